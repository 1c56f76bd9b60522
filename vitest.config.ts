import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { leftOut } from './test/support/effort.ts';

// Node resolves these names by a hook of the gateway (compose/plugin-modules.ts). Vite resolves the imports of modules in this folder itself.
const alias = [
  { find: /^gatehouse(?:-gateway)?\/plugin$/, replacement: `${import.meta.dirname}/src/plugin/index.ts` },
  {
    find: /^gatehouse(?:-gateway)?\/plugin\/testing$/,
    replacement: `${import.meta.dirname}/src/plugin/testing/index.ts`,
  },
];

const setupFiles = ['./test/support/vitest-setup.ts'];

/** Tests of the memory of their process. */
const ALONE = [
  'test/allocation/**/*.test.ts',
  'test/faults/memory.test.ts',
  'test/http/form-memory.test.ts',
  'test/live-tables.test.ts',
];

const sampledOut = [...leftOut()];

/** A whole run (build/run-parts.ts) reads from it which files have failed. */
const report = process.env['TEST_REPORT'];

const crossing = {
  setupFiles,
  globalSetup: ['./test/support/built.ts'],
  testTimeout: 120_000,
  hookTimeout: 120_000,
  retry: process.env['CI'] ? 1 : 0,
};

// Four projects: `unit` is pure and beside the code it tests; `crossing` (test/) opens real sockets on loopback, where a
// loaded machine may stretch a timeout that is part of the behaviour: in CI such a test has a second try, and is named.
// `alone` are those of them that need a process of their own. `growth` compares CPU times of one thread, so its files run
// one after the other, after all other tests.
export default defineConfig({
  test: {
    globalSetup: ['./test/support/compiled-threads.ts'],
    ...(report !== undefined && { reporters: ['default', ['json', { outputFile: report }]] }),
    // A busy machine must not fail a test that waits for something to happen: the default is a second, and five for the whole test.
    expect: { poll: { timeout: 60_000 } },
    // Tests across rooms wait more than they compute: vitest's own choice, one for each processor but one, is half as fast on a machine with two.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        test: {
          name: 'unit',
          setupFiles,
          include: ['src/**/*.test.ts', 'plugins/**/*.test.ts'],
          // An empty list would hide the `--exclude` of the command line.
          ...(sampledOut.length > 0 && { exclude: sampledOut }),
          // Pure code leaves nothing behind: the files of a worker share their modules, which halves the CPU time of the run.
          isolate: false,
          // Properties try hundreds of cases.
          testTimeout: 120_000,
        },
      },
      {
        resolve: { alias },
        test: {
          ...crossing,
          name: 'crossing',
          include: ['test/**/*.test.ts'],
          exclude: ['test/growth/**', ...ALONE, ...sampledOut],
          // To load the gateway anew for each of 270 files took a quarter of the run. A test undoes what it changes of its process.
          isolate: false,
        },
      },
      {
        resolve: { alias },
        test: { ...crossing, name: 'alone', include: ALONE },
      },
      {
        test: {
          name: 'growth',
          setupFiles,
          include: ['test/growth/**/*.test.ts'],
          testTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
