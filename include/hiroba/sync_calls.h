/* GCC compiles its older atomic operations, __sync_fetch_and_add and the like, and those of atomic_flag to instructions
 * always; here they become others of __atomic, which -fno-inline-atomics makes calls. `hirobacc -fopenmp-nodes`
 * includes this file first. */
#ifndef HIROBA_SYNC_CALLS_H
#define HIROBA_SYNC_CALLS_H
#ifndef __ASSEMBLER__
#if defined __cplusplus ? __cplusplus < 201103L : !defined __STDC_VERSION__ || __STDC_VERSION__ < 199901L
#pragma GCC system_header /* C90 and C++98 have no macros with ... */
#endif

#define __sync_fetch_and_add(...) __atomic_fetch_add(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_sub(...) __atomic_fetch_sub(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_or(...) __atomic_fetch_or(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_and(...) __atomic_fetch_and(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_xor(...) __atomic_fetch_xor(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_fetch_and_nand(...) __atomic_fetch_nand(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_add_and_fetch(...) __atomic_add_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_sub_and_fetch(...) __atomic_sub_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_or_and_fetch(...) __atomic_or_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_and_and_fetch(...) __atomic_and_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_xor_and_fetch(...) __atomic_xor_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_nand_and_fetch(...) __atomic_nand_fetch(__VA_ARGS__, __ATOMIC_SEQ_CST)
#define __sync_lock_test_and_set(...) __atomic_exchange_n(__VA_ARGS__, __ATOMIC_ACQUIRE)
#define __sync_lock_release(...) __atomic_store_n(__VA_ARGS__, 0, __ATOMIC_RELEASE)

#define __atomic_test_and_set(object, order) (__atomic_exchange_n((volatile unsigned char*)(object), 1, order) != 0)
#define __atomic_clear(object, order) __atomic_store_n((volatile unsigned char*)(object), 0, order)

#ifdef __cplusplus

/* The output of `hirobacc -E` may be compiled as a source again, which includes this file a second time; so these
 * functions have other names there. */
#ifdef HIROBA_PREPROCESSED
#define hiroba_same hiroba_same_before
#define hiroba_sync_val hiroba_sync_val_before
#define hiroba_sync_bool hiroba_sync_bool_before
#endif

template <typename T>
struct hiroba_same {
  typedef T type;
};

template <typename T>
inline T hiroba_sync_val(volatile T* object, typename hiroba_same<T>::type expected,
                         typename hiroba_same<T>::type desired) {
  __atomic_compare_exchange_n(object, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  return expected;
}

template <typename T>
inline bool hiroba_sync_bool(volatile T* object, typename hiroba_same<T>::type expected,
                             typename hiroba_same<T>::type desired) {
  return __atomic_compare_exchange_n(object, &expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

#define __sync_val_compare_and_swap(...) hiroba_sync_val(__VA_ARGS__)
#define __sync_bool_compare_and_swap(...) hiroba_sync_bool(__VA_ARGS__)

#else

struct hiroba_sync_calls; /* ISO C has no empty files, and lets this one come twice */

#define __sync_bool_compare_and_swap(object, expected, desired)                                       \
  __extension__({                                                                                     \
    __typeof__((__typeof__(*(object)))0) hiroba_old = (__typeof__(hiroba_old))(expected);             \
    __atomic_compare_exchange_n(object, &hiroba_old, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
  })
#define __sync_val_compare_and_swap(object, expected, desired)                                        \
  __extension__({                                                                                     \
    __typeof__((__typeof__(*(object)))0) hiroba_old = (__typeof__(hiroba_old))(expected);             \
    __atomic_compare_exchange_n(object, &hiroba_old, desired, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
    hiroba_old;                                                                                       \
  })

#endif
#endif
#endif
