import type { TestAnswer } from '../../../schemas/types.generated.ts';
import { quirksOf } from '../../catalog/catalog-target.ts';
import type { FormatName } from '../../formats/conversation.ts';
import type { Attempt, Exchange, ModelTask } from '../../plugin/index.ts';
import type { OutboundRequest } from '../../upstream/types.ts';
import type { CaseCall } from './outcome.ts';

/** What an upstream must know to answer as its API does. */
export interface Spoken {
  readonly format: FormatName;
  readonly task: ModelTask;
  readonly model: string;
  /** A stream of events is asked for. */
  readonly stream: boolean;
  /** The reply goes into a list of predictions (Vertex `:predict`). */
  readonly predicted: boolean;
}

/** One call of an upstream. */
export interface PlacedCall {
  readonly attempt: Attempt;
  readonly request: OutboundRequest;
  readonly spoken: Spoken;
  /** What is told of it. */
  readonly reported: CaseCall;
  /** Undefined: the case has none left. */
  readonly answer: TestAnswer | undefined;
  /** A connection is being made for it, or stands. */
  dialled: boolean;
  arrived: boolean;
}

/** Calls without an answer that are told one by one. */
const MOST_TOLD = 5;

/** All calls of a case in the order they were made, each with its answer. */
export class Calls {
  readonly placed: PlacedCall[] = [];
  readonly #answers: readonly TestAnswer[];

  constructor(answers: readonly TestAnswer[]) {
    this.#answers = answers;
  }

  /** @returns how to take note that nobody waits for it any more */
  place(exchange: Exchange, attempt: Attempt, request: OutboundRequest): () => void {
    const call: PlacedCall = {
      attempt,
      request,
      spoken: spokenAt(exchange, attempt, request),
      reported: describe(attempt, request),
      answer: this.#answers[this.placed.length],
      dialled: false,
      arrived: false,
    };
    this.placed.push(call);
    return () => {
      call.dialled = true;
      call.arrived = true;
    };
  }

  /** A connection is asked for. */
  dial(hostname: string, port: number): PlacedCall | undefined {
    const call = this.placed.find((one) => !one.dialled && isAt(one.request, hostname, port));
    if (call) call.dialled = true;
    return call;
  }

  /** A request has come. Calls with the same words are each other's equal. */
  arrive(path: string, body: string): PlacedCall | undefined {
    const call = this.placed.find(
      ({ arrived, request }) => !arrived && request.path === path && textOf(request.body) === body,
    );
    if (call) call.arrived = true;
    return call;
  }

  /** What the case has got wrong. */
  get faults(): readonly string[] {
    return [...this.#inAtOnce(), ...this.#countedWrong()];
  }

  /** Whether an answer comes as a stream is the call's to ask for. */
  #inAtOnce(): readonly string[] {
    return this.placed.flatMap(({ answer, spoken }, index) =>
      answer?.pause === undefined || answer.stream !== undefined || spoken.stream
        ? []
        : [
            `answer ${index + 1} has a \`pause\`, and call ${index + 1} asks for no stream: a late reply has a \`delay\``,
          ],
    );
  }

  #countedWrong(): readonly string[] {
    const { length } = this.#answers;
    const unanswered = this.placed.slice(length, length + MOST_TOLD).map(({ reported }, index) => {
      const number = length + index + 1;
      return `call ${number} (${reported.method} ${reported.url}) has no answer: \`upstream\` has ${count(length)}`;
    });
    const left = length - this.placed.length;
    const more = -left - MOST_TOLD;
    if (left <= 0) return more > 0 ? [...unanswered, `and ${more} more calls have no answer`] : unanswered;
    const asked = this.placed.length === 0 ? 'no upstream was called' : `there were ${this.placed.length} calls`;
    return [`\`upstream\` has ${count(length)}, and ${asked === 'there were 1 calls' ? 'there was 1 call' : asked}`];
  }
}

const count = (answers: number): string => (answers === 1 ? '1 answer' : `${answers || 'no'} answers`);

function isAt({ origin }: OutboundRequest, hostname: string, port: number): boolean {
  const url = new URL(origin.url);
  const own = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port);
  return own === port && url.hostname.replaceAll(/[[\]]/g, '') === hostname;
}

export const textOf = (body: OutboundRequest['body']): string => body?.toString() ?? '';

function spokenAt(exchange: Exchange, { resolved, outbound }: Attempt, request: OutboundRequest): Spoken {
  const predicted = resolved !== undefined && quirksOf(resolved)?.envelope !== undefined;
  return {
    format: resolved?.format ?? 'openai-chat',
    task: exchange.operation?.task ?? 'generate',
    model: resolved?.model ?? '',
    stream: (outbound?.stream ?? request.stream) && !predicted,
    predicted,
  };
}

const SECRET = '[secret]';

/** Credentials are whatever `authorize` has added to what was written, and wherever else their text stands. */
function describe({ outbound }: Attempt, { origin, method, path, headers, body, errors }: OutboundRequest): CaseCall {
  const secrets = (errors?.secrets ?? []).filter((secret) => secret !== '');
  const masked = (text: string): string => secrets.reduce((out, secret) => out.replaceAll(secret, SECRET), text);
  const written = outbound?.headers ?? {};
  return {
    method,
    url: masked(origin.url + path),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        written[name] === value ? masked(value) : SECRET,
      ]),
    ),
    // Made of what the case and the configs say; credentials are never written into it.
    body: parsed(textOf(body)),
  };
}

/** As it is where it is no JSON; undefined where there is nothing. */
export function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
