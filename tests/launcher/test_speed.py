"""How long the launcher takes to start and end ranks."""

from launching import LauncherTest, main


class Speed(LauncherTest):
    def test_32_ranks_start_and_end_well_under_a_second(self) -> None:
        best = min(self.launch("-n", 32, "true").seconds for _ in range(3))
        print(f"hirobarun -n 32 true: {best:.3f} s")
        self.assertLess(best, 0.7)


if __name__ == "__main__":
    main()
