import { heard, quoted, rain, RECALLED, REPORT, sawImage, thoughtOf } from '../words.ts';

/** A request to a model in no format: what the wires read, and all that the scenarios look at. */
export interface Ask {
  readonly system: string;
  /** The last text of the user. */
  readonly question: string;
  readonly stream: boolean;
  readonly tools: readonly string[];
  /** The one tool that has to be called. */
  readonly forced: string | undefined;
  /** Where the last turn answers calls: the results, in the order of the calls. */
  readonly results: readonly string[] | undefined;
  readonly json: boolean;
  readonly image: { readonly mime: string; readonly data: string } | undefined;
  readonly thinks: boolean;
  /** The last turn of the model came back with the signature that it was given. */
  readonly signed: boolean;
  /** Turns of the model with calls so far. */
  readonly rounds: number;
  /** The client wants a compaction of the conversation and no answer. Only the Responses API has these. */
  readonly compacts?: true;
}

export interface Call {
  /** Default: a number within its answer. */
  readonly id?: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Only the Responses API has others than functions: a custom tool gets `args.input`, `search` asks the client for tools. */
  readonly kind?: 'custom' | 'search';
  readonly namespace?: string;
}

export interface Answer {
  readonly thought: string | undefined;
  readonly text: string;
  readonly calls: readonly Call[];
  /** Tokens of the request, in the usage. Default: few. */
  readonly input?: number;
}

/** What an upstream does instead of answering: a status, or what becomes of the stream after its first words. */
export type Failure = number | 'midstream' | 'hang' | 'silence' | 'cut';

/** The request breaks a rule of the wire it is written in. */
export class Refusal extends Error {}

export function refuse(message: string): never {
  throw new Refusal(message);
}

export function failureOf(question: string): Failure | undefined {
  const status = /Fail (\d{3})/.exec(question);
  if (status) return Number(status[1]);
  if (question.includes('Fail midstream')) return 'midstream';
  if (question.includes('Hang')) return 'hang';
  return question.includes('Silence') ? 'silence' : undefined;
}

export function answerTo(ask: Ask): Answer {
  return { thought: ask.thinks ? thoughtOf(ask.question) : undefined, ...substanceOf(ask) };
}

function substanceOf(ask: Ask): Omit<Answer, 'thought'> {
  if (ask.results) return says(quoted(ask.results) + (ask.thinks && ask.signed ? RECALLED : ''));
  if (ask.forced) return { text: '', calls: [{ name: ask.forced, args: REPORT }] };
  if (ask.json) return says(JSON.stringify(REPORT));
  if (ask.tools.length > 0) return { text: 'Let me look.', calls: callsFor(ask) };
  if (ask.image) return says(sawImage(ask.image.mime, ask.image.data));
  return says(heard(ask.question, ask.system));
}

const says = (text: string): Omit<Answer, 'thought'> => ({ text, calls: [] });

/** One call per city, as a model with parallel calls makes them. */
function callsFor({ question, tools }: Ask): Call[] {
  const [tool = ''] = tools;
  const cities = /in (\w+)(?: and (\w+))?/.exec(question)?.slice(1).filter(Boolean) ?? [];
  return cities.map((city) => ({ name: tool, args: { city } }));
}

/** Whether a result is that of the call it is put against. */
export function answersCall(result: string, { args }: Call): boolean {
  return args['city'] === undefined || result.includes(rain(String(args['city'])));
}
