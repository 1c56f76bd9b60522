import type { Answers, CaseAnswer } from './answers.ts';
import { quirksOf } from '../../core/catalog/catalog-target.ts';
import type { FormatName } from '../../formats/conversation.ts';
import { parseJson } from '../../formats/json/object.ts';
import type { Exchange } from '../../core/kernel/index.ts';
import type { ModelTask } from '../../plugin/index.ts';
import type { OutboundRequest } from '../../core/upstream/types.ts';
import { SECRET, type DryCall } from '../../core/dry-run/calls.ts';

/** The facts that a fake upstream needs to answer in its API. */
export interface SpokenCall {
  readonly format: FormatName;
  readonly task: ModelTask;
  readonly model: string;
  readonly stream: boolean;
  /** The reply goes into a list of predictions (Vertex `:predict`). */
  readonly predicted: boolean;
}

export interface PlacedCall extends DryCall {
  readonly spoken: SpokenCall;
  /** Undefined: the case has no further answer. */
  readonly answer: CaseAnswer | undefined;
  /** A connection is being opened, or is open. */
  dialled: boolean;
  arrived: boolean;
}

/** Maximum unanswered calls that are listed individually. */
const MOST_LISTED = 5;

/** All calls of a case in order, each with its answer. */
export class Calls {
  readonly placed: PlacedCall[] = [];
  readonly #answers: Answers;

  constructor(answers: Answers) {
    this.#answers = answers;
  }

  /** @returns a function that marks the call as no longer awaited */
  place(exchange: Exchange, made: DryCall): () => void {
    const call: PlacedCall = {
      ...made,
      spoken: spokenAt(exchange, made),
      answer: this.#answers.of(made.request, this.placed.length),
      dialled: false,
      arrived: false,
    };
    this.placed.push(call);
    return () => {
      call.dialled = true;
      call.arrived = true;
    };
  }

  /** Assigns a new connection to the first call that waits for one. */
  dial(hostname: string, port: number): PlacedCall | undefined {
    const call = this.placed.find((one) => !one.dialled && isAt(one.request, hostname, port));
    if (call) call.dialled = true;
    return call;
  }

  /** Assigns an arrived request to its call. Calls with equal requests are interchangeable. */
  arrive(path: string, body: string): PlacedCall | undefined {
    const call = this.placed.find(
      ({ arrived, request }) => !arrived && request.path === path && textOf(request.body) === body,
    );
    if (call) call.arrived = true;
    return call;
  }

  /** Errors of the case itself. */
  get faults(): readonly string[] {
    return [...this.#pausesWithoutStream(), ...this.#wrongCounts()];
  }

  /** The call decides whether an answer is streamed, so a `pause` in another answer is an error. */
  #pausesWithoutStream(): readonly string[] {
    return this.placed.flatMap(({ answer, spoken }, index) =>
      answer?.pause === undefined || answer.stream !== undefined || spoken.stream
        ? []
        : [
            `answer ${index + 1} has a \`pause\`, but call ${index + 1} requests no stream; use \`delay\` for a late reply`,
          ],
    );
  }

  #wrongCounts(): readonly string[] {
    const { count: length } = this.#answers;
    if (length === undefined) return this.#misses();
    const unanswered = this.placed.slice(length, length + MOST_LISTED).map((call, index) => {
      const number = length + index + 1;
      const { method, url } = describeCall(call);
      return `call ${number} (${method} ${url}) has no answer: \`upstream\` has ${count(length)}`;
    });
    const left = length - this.placed.length;
    const more = -left - MOST_LISTED;
    if (left <= 0) return more > 0 ? [...unanswered, `and ${more} more calls have no answer`] : unanswered;
    const called = this.placed.length === 0 ? 'no upstream was called' : `there were ${this.placed.length} calls`;
    return [`\`upstream\` has ${count(length)}, but ${called === 'there were 1 calls' ? 'there was 1 call' : called}`];
  }

  /** The first ones: later calls are their consequences. */
  #misses(): readonly string[] {
    const misses = this.placed.flatMap((call, index) => {
      const miss = this.#answers.missing(index);
      const { method, url } = describeCall(call);
      return miss === undefined ? [] : [`call ${index + 1} (${method} ${url}) has no answer in ${miss}`];
    });
    return misses.slice(0, MOST_LISTED);
  }
}

const count = (answers: number): string => (answers === 1 ? '1 answer' : `${answers || 'no'} answers`);

function isAt({ origin }: OutboundRequest, hostname: string, port: number): boolean {
  const url = new URL(origin.url);
  const own = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port);
  return own === port && url.hostname.replaceAll(/[[\]]/g, '') === hostname;
}

const textOf = (body: OutboundRequest['body']): string => body?.toString() ?? '';

function spokenAt(exchange: Exchange, { attempt: { resolved, outbound }, request }: DryCall): SpokenCall {
  const predicted = resolved !== undefined && quirksOf(resolved)?.envelope !== undefined;
  return {
    format: resolved?.format ?? 'openai-chat',
    task: exchange.operation?.task ?? 'generate',
    model: resolved?.model ?? '',
    stream: (outbound?.stream ?? request.stream) && !predicted,
    predicted,
  };
}

export interface CaseCall {
  readonly method: string;
  readonly url: string;
  /** Lower-case names; credentials are `[secret]`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** Describes a call: credentials are masked, also where a header or the URL repeats them. */
export function describeCall({ request, credentials }: DryCall): CaseCall {
  const { origin, method, path, headers, body, errors } = request;
  const secrets = (errors?.secrets ?? []).filter((secret) => secret !== '');
  const masked = (text: string): string => secrets.reduce((out, secret) => out.replaceAll(secret, SECRET), text);
  return {
    method,
    url: masked(origin.url + path),
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name.toLowerCase(),
        credentials.includes(name) ? SECRET : masked(value),
      ]),
    ),
    // The body comes from the case and the configs and never contains credentials.
    body: parsed(textOf(body)),
  };
}

/** Returns text that is not JSON unchanged; undefined for empty text. */
export function parsed(text: string): unknown {
  const json = parseJson(text);
  return json === undefined && text !== '' ? text : json;
}
