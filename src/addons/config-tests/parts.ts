import type { AddOnParts } from '../../core/process/add-on-parts.ts';

export const parts: AddOnParts = {
  // A gateway that serves does not load it.
  recordCases: {
    make: async (question) => (await import('./from-record/case-of-record.ts')).caseOfRecord(question),
    request: async (question) => (await import('./from-record/request-of-record.ts')).requestOfRecord(question),
  },
  passes: [async (settings, result) => (await import('./check-tests.ts')).validateTests(settings, result)],
  jobs: {
    async *tests(input) {
      yield* (await import('./job.ts')).testsJob(input);
    },
  },
};
