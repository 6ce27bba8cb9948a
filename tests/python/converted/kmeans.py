"""k-means: kmeans_numpy.py, on all ranks; each has a part of the points, and all have the centroids."""

import sys

import hiroba
import numpy as np

n, dims, clusters, most = (int(word) for word in sys.argv[1:5])


def initialize(generator):
    data = hiroba.array(generator.random((n, dims))).local
    return data, generator.random((clusters, dims))


def distances_of(data, centroids, dots):
    squares = dots[:, np.newaxis] + np.square(np.linalg.norm(centroids, axis=1))
    squares -= 2 * np.dot(data, centroids.T)
    return squares


def find_centroids(centroids, data, labels, squares):
    counts = hiroba.allreduce(np.bincount(labels, minlength=clusters))
    for d in range(dims):
        centroids[:, d] = hiroba.allreduce(np.bincount(labels, weights=data[:, d], minlength=clusters))
    centroids /= np.maximum(counts, 1)[:, np.newaxis]
    return hiroba.allreduce(np.sum(np.amin(squares, axis=1)))


data, centroids = initialize(np.random.default_rng(7))
dots = np.square(np.linalg.norm(data, axis=1))
labels = np.full(len(data), -1)
for iteration in range(most):
    squares = distances_of(data, centroids, dots)
    before, labels = labels, np.argmin(squares, axis=1)
    total = find_centroids(centroids, data, labels, squares)
    changes = hiroba.allreduce(np.sum(before != labels))
    if hiroba.rank == 0 and (iteration % 5 == 0 or changes == 0):
        print(f"iteration {iteration}: {changes} changes, sum of squares {total:.9f}")
    if changes == 0:
        break
if hiroba.rank == 0:
    print(np.array2string(centroids, precision=9))
