import {
  MAX_STATS_POINTS,
  STATS_DIMENSIONS,
  STATS_STEPS,
  type StatsSeries,
} from '../../../../core/process/console-port.ts';
import { nearRetirement } from '../../../../core/catalog/model-table/retirements.ts';
import type { Call, Handler } from '../call.ts';
import { ApiProblem } from '../problems.ts';
import { recordQuery } from './requests.ts';
import { consoleOf } from './session.ts';
import { diagnosticsOf } from './settings.ts';

const TOPICS = ['requests', 'settings'] as const;
const HOUR_MS = 3_600_000;

export const getStream: Handler = async (call) => {
  const { query, records, clock, sources } = call;
  const own = consoleOf(call);
  const topics = topicsOf(call);
  const written = await own.written(sources.inForce());
  const settings = (): object => {
    const { ok, at, diagnostics } = sources.lastReload();
    const { hash } = sources.inForce().settings;
    return { hash, ok, at: new Date(at).toISOString(), diagnostics: diagnosticsOf(diagnostics, written) };
  };
  const boot = ['boot', { boot_id: own.boot.id }] as const;
  const pieces = own.stream(records, {
    caller: call.identity.actor.id,
    onLeave: call.onLeave,
    query: topics.includes('requests') ? recordQuery(query, clock.wall()) : undefined,
    lastId: lastIdOf(call),
    news: () => (topics.includes('settings') ? [boot, ['settings', settings()]] : [boot]),
    isAllowed: call.isAllowed,
  });
  if (!pieces) throw new ApiProblem('busy', '20 streams are open, as many as there can be.');
  return { stream: { type: 'text/event-stream; charset=utf-8', pieces } };
};

function topicsOf({ query }: Call): readonly string[] {
  const asked = query.one('topics')?.split(',') ?? TOPICS;
  if (asked.find((topic) => !TOPICS.some((one) => one === topic)) === undefined) return asked;
  throw new ApiProblem('invalid_query', `\`topics\` are ${TOPICS.join(' and ')}, separated by commas.`);
}

function lastIdOf({ lastEventId }: Call): number | undefined {
  if (lastEventId === undefined) return undefined;
  if (/^\d{1,16}(?:\.\d{1,10})?$/.test(lastEventId)) return Number(lastEventId);
  throw new ApiProblem('invalid_header', '`Last-Event-ID` is not the id of an event of this stream.');
}

export const getStats: Handler = async (call) => {
  const { query, clock } = call;
  const to = query.moment('to') ?? clock.wall();
  const from = query.moment('from') ?? to - HOUR_MS;
  if (from >= to) throw new ApiProblem('invalid_query', '`from` must be before `to`.');
  const stepSeconds = stepOf(call, to - from);
  const by = query.one('by');
  const dimension = STATS_DIMENSIONS.find((one) => one === by);
  if (by !== undefined && !dimension)
    throw new ApiProblem('invalid_query', `\`by\` must be one of ${STATS_DIMENSIONS.join(', ')}.`);
  const filters = STATS_DIMENSIONS.flatMap((name) => {
    const wanted = query.all(name);
    return wanted.length === 0 ? [] : [[name, wanted] as const];
  });
  const answer = await consoleOf(call).stats({ from, to, stepSeconds, by: dimension, filters });
  return {
    body: {
      step_s: answer.stepSeconds,
      since: new Date(answer.since).toISOString(),
      points: answer.points,
      series:
        dimension === 'model' ? answer.series.map((one) => ({ ...one, ...endOf(call, one.name) })) : answer.series,
      other: answer.other satisfies StatsSeries | null,
      complete_since: new Date(answer.completeSince).toISOString(),
    },
  };
};

/** The first day on which an entry in force ends the model. */
function endOf({ sources, clock }: Call, model: string): object {
  const { providers } = sources.inForce().settings.catalog;
  const [first] = providers
    .flatMap((entry) => nearRetirement(entry, model, clock.wall()) ?? [])
    .toSorted((one, other) => (one.day < other.day ? -1 : 1));
  return first ? { retires: { ...first, successor: first.successor ?? null } } : {};
}

/** Undefined: the add-on chooses. */
function stepOf({ query }: Call, ms: number): number | undefined {
  const asked = query.one('step_s');
  const longest = asked === undefined ? STATS_STEPS.at(-1)! : Number(asked);
  if (ms / 1000 / longest <= MAX_STATS_POINTS) return asked === undefined ? undefined : longest;
  throw new ApiProblem(
    'invalid_query',
    `The time has more than ${MAX_STATS_POINTS} steps: ask for a part of it, or longer steps.`,
  );
}
