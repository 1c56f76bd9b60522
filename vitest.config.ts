import { defineConfig } from 'vitest/config';

// Two projects: `unit` is pure and beside the code it tests; `crossing` (test/) opens real sockets on loopback.
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'plugins/**/*.test.ts'] } },
      { test: { name: 'crossing', include: ['test/**/*.test.ts'], testTimeout: 30_000, hookTimeout: 30_000 } },
    ],
  },
});
