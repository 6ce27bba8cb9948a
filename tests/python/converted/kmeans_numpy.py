"""k-means: distances by a product of matrices, centroids by weighted counts, until no point changes its cluster. As
programs for NumPy do it since B. Catanzaro's, by which libraries that replace NumPy are measured. For one process."""

import sys

import numpy as np

n, dims, clusters, most = (int(word) for word in sys.argv[1:5])


def initialize(generator):
    data = generator.random((n, dims))
    return data, generator.random((clusters, dims))


def distances_of(data, centroids, dots):
    squares = dots[:, np.newaxis] + np.square(np.linalg.norm(centroids, axis=1))
    squares -= 2 * np.dot(data, centroids.T)
    return squares


def find_centroids(centroids, data, labels, squares):
    counts = np.bincount(labels, minlength=clusters)
    for d in range(dims):
        centroids[:, d] = np.bincount(labels, weights=data[:, d], minlength=clusters)
    centroids /= np.maximum(counts, 1)[:, np.newaxis]
    return np.sum(np.amin(squares, axis=1))


data, centroids = initialize(np.random.default_rng(7))
dots = np.square(np.linalg.norm(data, axis=1))
labels = np.full(len(data), -1)
for iteration in range(most):
    squares = distances_of(data, centroids, dots)
    before, labels = labels, np.argmin(squares, axis=1)
    total = find_centroids(centroids, data, labels, squares)
    changes = np.sum(before != labels)
    if iteration % 5 == 0 or changes == 0:
        print(f"iteration {iteration}: {changes} changes, sum of squares {total:.9f}")
    if changes == 0:
        break
print(np.array2string(centroids, precision=9))
