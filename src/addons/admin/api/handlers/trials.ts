import { TooManyJobs } from '../../../../core/process/jobs.ts';
import type { TrialWish } from '../../../../core/process/console-port.ts';
import type { Call, CallAnswer, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { consoleOf } from './session.ts';

const MAX_REQUESTS = 1_000;

interface EffectBody {
  readonly files: TrialWish['texts'];
  readonly last?: number;
}

export const tryEffect: Handler = async (call) => {
  const { files, last = MAX_REQUESTS } = call.body as EffectBody;
  const records = await latestOf(call, last);
  const failed = (reason: string): object => ({
    same: 0,
    changed: 0,
    unknown: records.length,
    reasons: [{ reason, count: records.length, sample: '' }],
    cases: 0,
  });
  return answer(call, { job: 'effect', texts: files, more: { records }, failed });
};

/** Whole records of the latest requests that have ended. */
async function latestOf({ console, records }: Call, last: number): Promise<readonly object[]> {
  const asked = { limit: last, whole: true };
  const { lines } = await (console?.kept?.page(asked, records) ?? records.page(asked));
  return lines.flatMap(({ place, line }) => (place.running ? [] : [line])).slice(0, last);
}

interface TestsBody {
  readonly files: TrialWish['texts'];
  readonly filter?: string;
}

export const runTests: Handler = (call) => {
  const { files, filter } = call.body as TestsBody;
  const failed = (problem: string): object => ({ passed: 0, failed: 0, problems: [problem] });
  return answer(call, { job: 'tests', texts: files, more: { filter }, failed });
};

function answer(call: Call, wish: TrialWish): CallAnswer {
  try {
    const pieces = consoleOf(call).trial(call.sources.inForce(), wish, call.onLeave);
    return { stream: { type: 'text/event-stream; charset=utf-8', pieces } };
  } catch (error) {
    if (error instanceof TooManyJobs) throw new ApiProblem('busy', error.message);
    throw error;
  }
}
