import type { TrialWish } from '../../../../core/process/console-port.ts';
import type { Call, CallAnswer, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { textsOf } from './edited-settings.ts';
import { consoleOf } from './session.ts';

const MAX_REQUESTS = 1_000;

export const tryEffect: Handler = async (call) => {
  const { last = MAX_REQUESTS } = call.body as { readonly last?: number };
  const texts = textsOf(call);
  const records = await latestOf(call, last);
  const failed = (reason: string): object => ({
    same: 0,
    changed: 0,
    unknown: records.length,
    reasons: [{ reason, count: records.length, sample: '' }],
    cases: 0,
  });
  return answer(call, { job: 'effect', texts, more: { records }, failed });
};

async function latestOf({ console, records }: Call, last: number): Promise<readonly object[]> {
  const asked = { limit: last, whole: true };
  const { lines } = await (console?.kept?.page(asked, records) ?? records.page(asked));
  return lines.flatMap(({ place, line }) => (place.running ? [] : [line])).slice(0, last);
}

export const runTests: Handler = (call) => {
  const { filter } = call.body as { readonly filter?: string };
  const failed = (problem: string): object => ({ passed: 0, failed: 0, problems: [problem] });
  return answer(call, { job: 'tests', texts: textsOf(call), more: { filter }, failed });
};

async function answer(call: Call, wish: TrialWish): Promise<CallAnswer> {
  const pieces = await consoleOf(call).trial(call.sources.inForce(), wish, call.onLeave);
  if (!pieces) throw new ApiProblem('busy', 'Two such processes run already.');
  return { stream: { type: 'text/event-stream; charset=utf-8', pieces } };
}
