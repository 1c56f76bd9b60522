import type { Api } from './apis.ts';
import type { Answer, Ask, Call, Failure } from '../clients/upstream/ask.ts';
import type { Agent } from './agent.ts';
import type { Thoughts, UpstreamKind } from './upstreams.ts';

/** The rows of each agent's table: what the model does, and the result that a run must have. */

/** How the model uses the tools of an agent. */
export interface Toolbox {
  shell(command: string): Omit<Call, 'id'>;
  write(path: string, text: string): Omit<Call, 'id'>;
  /** Absent if no tool of the agent returns an image. */
  view?(path: string): Omit<Call, 'id'>;
}

export interface Outcome {
  /** Exit code; `undefined` if the run had to be ended. */
  readonly code: number | undefined;
  readonly output: string;
  readonly ms: number;
  /** Text of `NOTE` in the working folder. */
  readonly note: string | undefined;
  /** What the upstream refused, as the gateway wrote it. */
  readonly refused: readonly string[];
  /** Requests that reached the upstream. */
  readonly requests: number;
  /** Paths of the POST requests that reached the gateway, by its log. */
  readonly paths: readonly string[];
  /** Those with tools: the turns of the agent, without its side calls. */
  readonly turns: number;
  readonly thought: {
    readonly kind: Thoughts;
    /** A request asked the model for its thoughts. */
    readonly asked: boolean;
    /** The signature of a thought came back to the model. */
    readonly signed: boolean;
  };
}

export interface TurnOfRun {
  /** Counts the turns of the run, from 0. */
  readonly nth: number;
  readonly tools: Toolbox;
  /** The text of the request. */
  readonly body: string;
}

export interface Case {
  /** A second run of the agent continues the conversation with this prompt. */
  readonly nextPrompt?: string;
  /** The alias has a context that is soon full. */
  readonly small?: true;
  /** What the model answers if the agent requests a summary of the conversation. */
  readonly summary?: (ask: Ask) => Answer | undefined;
  readonly name: string;
  readonly title: string;
  readonly prompt: string;
  /** What the model does after `ask.rounds` turns with calls. */
  readonly model: (ask: Ask, turn: TurnOfRun) => Answer | Failure;
  /** Undefined, or what is wrong. */
  readonly verdict: (outcome: Outcome, agent: Pick<Agent, 'refusedOnce'>) => string | undefined;
  readonly wrongKey?: true;
  readonly unknownModel?: true;
  readonly thinking?: true;
  /** The agent names the model by `@slug/model`, if it can. Default: by an alias. */
  readonly direct?: true;
  /** The working folder has a picture: the user adds it to the prompt, or the model reads it with a tool. */
  readonly image?: 'attached' | 'read';
  /** The case is of one agent, at one upstream or at all. Default: of all agents. */
  readonly only?: { readonly agent: string; readonly upstream?: string };
  /** The alias of the run, which is the name of a model that the agent knows: it gets no facts of the gateway. */
  readonly alias?: (kind: UpstreamKind) => string;
  /** The name of the provider in the settings of Codex. */
  readonly provider?: string;
  /** The SDK that opencode loads in place of the one of its settings, and the API that it speaks. */
  readonly sdk?: { readonly package: string; readonly api: Api };
  /** Default 60 s. */
  readonly limitMs?: number;
}

export const UNKNOWN_MODEL = 'gw-no-such-model';
export const NOTE = 'note.txt';
export const NOTED = 'The note of the agent.';
const LONG_ROUNDS = 12;
/** Enough for a context to grow, little enough for every agent to pass it on uncut. */
const LINES = 60;

export const says = (text: string): Answer => ({ thought: undefined, text, calls: [] });

let calls = 0;
export const does = (text: string, ...made: readonly Omit<Call, 'id'>[]): Answer => ({
  thought: undefined,
  text,
  // Agents refuse an id that came before in their conversation.
  calls: made.map((call) => ({ ...call, id: `toolu_${String((calls += 1)).padStart(6, '0')}` })),
});

/** The last answer of the model: it shows whether the results of the tools came back to it. */
const recounts = (ask: Ask, ...wanted: readonly string[]): Answer => {
  const results = ask.results ?? [];
  const lost = wanted.filter((text, index) => !results[index]?.includes(text));
  return says(lost.length === 0 ? `All came back: ${wanted.join(', ')}.` : `Lost: ${lost.join(', ')}.`);
};

const FINAL = /All came back: /;

export const finished = ({ code, output, refused }: Outcome): string | undefined => {
  if (code === undefined) return 'did not end in time';
  if (refused.length > 0) return `the upstream refused: ${refused[0]}`;
  if (/Lost: /.test(output)) return /Lost: .*/.exec(output)?.[0];
  if (!FINAL.test(output)) return 'did not give the last answer of the model';
  return code === 0 ? undefined : `exit code ${code}`;
};

/** Either the agent asked again and finished, or it said what happened. */
const finishedOrTold =
  (words: RegExp) =>
  (outcome: Outcome): string | undefined => {
    const { code, output } = outcome;
    if (FINAL.test(output)) return finished(outcome);
    if (code === undefined) return 'did not end in time';
    if (!words.test(output)) return `ended with ${code} and without a readable message`;
    return code === 0 ? 'an error ended with exit code 0' : undefined;
  };

const REFUSED_MS = 30_000;

/** The gateway refuses each request of the run: the agent ends soon, with a message. */
const refusedBy =
  (words: RegExp) =>
  ({ code, output, requests }: Outcome): string | undefined => {
    if (code === undefined) return `did not end within ${REFUSED_MS / 1000} s`;
    if (requests > 0) return 'the upstream was reached';
    if (!words.test(output)) return `ended with ${code} and without a readable message`;
    return code === 0 ? 'an error ended with exit code 0' : undefined;
  };

export function thoughtFault({ kind, asked, signed }: Outcome['thought']): string | undefined {
  if (signed) return undefined;
  if (kind !== 'always' && !asked) return 'the model was not asked to think';
  return kind === 'plain' ? undefined : 'the signature of the thought is lost';
}

export const COMMON_CASES: readonly Case[] = [
  {
    name: 'text',
    title: 'a text',
    direct: true,
    prompt: 'Say that all came back.',
    model: () => says('All came back: nothing.'),
    verdict: finished,
  },
  {
    name: 'tools',
    title: 'a turn with tools',
    prompt: 'Run a command and say what it printed.',
    model: (ask, { tools }) =>
      ask.rounds === 0 ? does('I will look.', tools.shell('printf rain-%d 42')) : recounts(ask, 'rain-42'),
    verdict: finished,
  },
  {
    name: 'edit',
    title: 'a file edit',
    prompt: `Write ${NOTE}.`,
    model: (ask, { tools }) =>
      ask.rounds === 0 ? does('', tools.write(NOTE, `${NOTED}\n`)) : says('All came back: the edit.'),
    verdict: (outcome) =>
      finished(outcome) ??
      (outcome.note?.trim() === NOTED ? undefined : `the file has ${JSON.stringify(outcome.note)}`),
  },
  {
    name: 'parallel',
    title: 'parallel calls',
    prompt: 'Run two commands at once and say what they printed.',
    model: (ask, { tools }) =>
      ask.rounds === 0
        ? does('Both.', tools.shell('printf one-%d 21'), tools.shell('printf two-%d 22'))
        : recounts(ask, 'one-21', 'two-22'),
    verdict: finished,
  },
  {
    name: 'thinking',
    title: 'thinking',
    prompt: 'Think, run a command and say what it printed.',
    thinking: true,
    model: (ask, { tools }) => ({
      ...(ask.rounds === 0 ? does('I will look.', tools.shell('printf sun-%d 48')) : recounts(ask, 'sun-48')),
      thought: ask.thinks ? 'A thought of the model.' : undefined,
    }),
    verdict: (outcome) => finished(outcome) ?? thoughtFault(outcome.thought),
  },
  {
    name: 'failure',
    title: 'a command that fails',
    prompt: 'Run a command and say what it printed.',
    model: (ask, { tools }) =>
      ask.rounds === 0
        ? does('I will look.', tools.shell('printf broken-%d 17 >&2; exit 3'))
        : recounts(ask, 'broken-17'),
    verdict: finished,
  },
  {
    name: 'cut',
    title: 'a cut stream',
    prompt: 'Say that all came back.',
    model: (_, { nth }) => (nth === 0 ? 'cut' : says('All came back: nothing.')),
    verdict: finishedOrTold(
      /stream|connection|terminated|socket|network|closed|upstream|interrupted|response\.failed/i,
    ),
  },
  {
    name: 'rate',
    title: 'a rate limit',
    prompt: 'Say that all came back.',
    model: (_, { nth }) => (nth === 0 ? 429 : says('All came back: nothing.')),
    verdict: finishedOrTold(/429|rate.?limit|RESOURCE_EXHAUSTED|The model says/i),
  },
  {
    name: 'key',
    title: 'a wrong key',
    prompt: 'Say that all came back.',
    wrongKey: true,
    model: () => says('All came back: nothing.'),
    limitMs: REFUSED_MS,
    verdict: (outcome, { refusedOnce }) =>
      refusedBy(/api.?key|gateway key|401|unauthori[sz]ed|authenticat/i)(outcome) ??
      (refusedOnce && outcome.paths.length !== 1
        ? `${outcome.paths.length} requests with the refused key, not 1`
        : undefined),
  },
  {
    name: 'model',
    title: 'an unknown model',
    prompt: 'Say that all came back.',
    unknownModel: true,
    model: () => says('All came back: nothing.'),
    limitMs: REFUSED_MS,
    verdict: refusedBy(new RegExp(UNKNOWN_MODEL)),
  },
  {
    name: 'long',
    title: 'a long conversation',
    prompt: `Run ${LONG_ROUNDS} commands, one after the other.`,
    model: (ask, { tools }) =>
      ask.rounds < LONG_ROUNDS
        ? does(`Step ${ask.rounds}.`, tools.shell(`seq ${ask.rounds * 1000} ${ask.rounds * 1000 + LINES}`))
        : recounts(ask, String((LONG_ROUNDS - 1) * 1000 + LINES)),
    verdict: finished,
    limitMs: 120_000,
  },
];
