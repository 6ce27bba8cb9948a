#!/usr/bin/env python3
"""Writes a copy of src/transaction with delays, deaths and bugs in it, for tests that must notice them.

    planted.py SRC OUT
    planted.py --check SRC

PLANTED_BUGS names the bugs that a process has: `no_validation`, `one_look` (a load looks at the word of its stripe
before the data only), `early_stores` (before the validation), `no_locks` (a commit locks nothing). PLANTED_DEATH=NAME:N
kills rank 0 the N-th time it comes to the step of that name. PLANTED_DELAYS: at random, threads wait at steps.
Each text that is replaced is there once; else it stays as it is, and --check fails: then a change of the source is to
be made here, too.
"""

import pathlib
import sys

HEADER = """#pragma once
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace hiroba {

inline const char* planted_text(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}
inline bool planted(const char* bug) {
  static const char* const bugs = planted_text("PLANTED_BUGS");
  return std::strstr(bugs, bug) != nullptr;
}
inline void planted_step(const char* name) {
  static const char* const delays = planted_text("PLANTED_DELAYS");
  static const char* const dies = planted_text("PLANTED_DEATH");
  static const bool first = std::strncmp(planted_text("HIROBA_JOB"), "0:", 2) == 0;
  static std::atomic<int> times = 0;
  const size_t length = std::strlen(name);
  if (first && std::strncmp(dies, name, length) == 0 && dies[length] == ':' && ++times == std::atoi(dies + length + 1))
    raise(SIGKILL);
  if (delays[0] == 0) return;
  static thread_local uint64_t random = static_cast<uint64_t>(gettid()) * 0x9e3779b97f4a7c15;
  random ^= random << 13, random ^= random >> 7, random ^= random << 17;
  if (random % 8 == 0) usleep(static_cast<useconds_t>(random >> 8) % 100);
}

}  // namespace hiroba
"""
STORE = "store_masked(reinterpret_cast<char*>(entry.address), entry.value, entry.mask);"
STORE_NEAR = "if (!targets_[i].by_messages) store_masked(targets_[i].data, entry.value, entry.mask);"
EARLY = """
  if (planted("early_stores"))
    for (const WriteSet::Entry& entry : writes_.entries()) """
EARLY_NEAR = """
  if (done && planted("early_stores"))
    for (size_t i = 0; i < targets_.size(); ++i) {
      const WriteSet::Entry& entry = writes_.entries()[i];
      """
CHANGES: dict[str, list[tuple[str, str]]] = {
    "commit.cpp": [
        (
            "bool Commit::lock_word(StripeWord& stripe) {",
            '@\n  if (planted("no_locks")) return true;\n  planted_step("lock");',
        ),
        (STORE, '{ @ planted_step("store"); }'),
        ("version = domain_->clock.fetch_add(1", f'planted_step("locked");{EARLY}{STORE}\n@'),
        ("version != snapshot_.version() + 1 &&", '@ !planted("no_validation") &&'),
        (
            "for (const StripeLock& lock : locks_) lock.stripe->word.store(version,",
            'planted_step("stored");\n@',
        ),
        (STORE_NEAR, '{ @ planted_step("store"); }'),
        ("bool done = lock_reached();", f'@{EARLY_NEAR}{STORE_NEAR}\n    }}\n  planted_step("locked");'),
        ("lock_far(locked) && validate();", 'lock_far(locked) && (planted("no_validation") || validate());'),
        ("if (done) return write_anywhere", 'planted_step("validated");\n@'),
        ("std::vector<TransactionDomain*> domains(locked_in_);", 'planted_step("stored"); @'),
        ("if (domain == domain_) version = now;", 'planted_step("version"); @'),
    ],
    "snapshot.hpp": [
        ("out = std::atomic_ref(*const_cast<T*>(at))", 'planted_step("looked");\n@'),
        (
            "if (before != stripe.word.load(std::memory_order_relaxed) ||",
            'planted_step("loaded");\n'
            'if ((!planted("one_look") && before != stripe.word.load(std::memory_order_relaxed)) ||',
        ),
    ],
    "snapshot.cpp": [
        ("out = std::atomic_ref(word).load", 'planted_step("looked");\n@'),
        (
            "if (before != stripe.word.load(std::memory_order_relaxed)) continue;",
            'if (!planted("one_look") && before != stripe.word.load(std::memory_order_relaxed)) continue;',
        ),
        (
            "bool Snapshot::is_valid(const std::vector<StripeLock>& locks) const {",
            '@\n  if (planted("no_validation")) return true;',
        ),
    ],
    "far_homes.cpp": [
        (
            "for (uint32_t at = 0; at < request.bytes; at += 8) {",
            'planted_step("looked");\nif (planted("one_look")) usleep(200);\n@',
        ),
        (
            "reply.ok = stripe.word.load(std::memory_order_relaxed) == reply.version;",
            'reply.ok = planted("one_look") || stripe.word.load(std::memory_order_relaxed) == reply.version;',
        ),
        (
            "bool FarHomes::is_valid(std::span<const FarStripe> stripes) const {",
            '@\n  if (planted("no_validation")) return true;',
        ),
        (
            "if ((stripe.flags & FarStripe::expects) != 0 && now != stripe.version) return false;",
            'if (!planted("no_validation") && (stripe.flags & FarStripe::expects) != 0 && now != stripe.version) '
            "return false;",
        ),
        ("store_masked(memory_->transport().local_address", 'planted_step("far_store"), @'),
        ("const uint64_t version = written ? domain_->clock", 'planted_step("far_stored"); @'),
    ],
}


def planted(name: str, text: str, wrong: list[str]) -> str:
    for old, new in CHANGES.get(name, []):
        if text.count(old) == 1:
            text = text.replace(old, new.replace("@", old))
        else:
            wrong.append(f"planted.py: {name} has this {text.count(old)} times, not once: {old}")
    first = text.index('#include "transaction/') if '#include "transaction/' in text else text.index("#include")
    return text[:first] + '#include "transaction/planted.hpp"\n' + text[first:]


def main() -> int:
    if sys.argv[1] == "--check":
        wrong: list[str] = []
        for path in pathlib.Path(sys.argv[2]).glob("*.?pp"):
            planted(path.name, path.read_text(), wrong)
        print("\n".join(wrong))
        return 1 if wrong else 0
    source, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    (out / "planted.hpp").write_text(HEADER)
    for path in sorted(source.glob("*.?pp")):
        changed = planted(path.name, path.read_text(), [])
        target = out / path.name
        if not target.exists() or target.read_text() != changed:
            target.write_text(changed)
    return 0


if __name__ == "__main__":
    sys.exit(main())
