import type { DefaultedParam, Loss } from '../../formats/conversation.ts';
import type { Signals } from '../../formats/events.ts';
import type { GatewayError } from '../../plugin/errors.ts';
import type { Attempt as PublicAttempt, TryRecord as PublicTryRecord } from '../../plugin/exchange.ts';
import type { RequestBody } from './body/request-body.ts';
import type { PromptPrefixes } from './prompt-prefixes.ts';
import type { Outbound, ResolvedTarget } from './outbound.ts';
import type { SemanticLookup } from './semantic.ts';
import type { Target, Timeouts } from './settings.ts';

/** An attempt as code of the gateway sees it. */
export interface Attempt extends PublicAttempt {
  readonly target: Target;
  /** Milliseconds; from the target, the catalog entry (once `resolved` is set) and the server. */
  readonly timeouts: Timeouts;
  body: RequestBody;
  resolved: ResolvedTarget | undefined;
  outbound: Outbound | undefined;
  /** The parts of the request that name stored files, in order, as they reach the target. Undefined when there are none. */
  storedFiles?: readonly SentFile[] | undefined;
  /** Parts of the request that the target cannot express. */
  losses: Loss[];
  /** Fields that the caller omitted and the target demands, with the values that the gateway chose. */
  defaulted?: readonly DefaultedParam[] | undefined;
  /** The attempt's reserve of the caller's budgets; undefined when there are none. The plugin `budget` sets it. */
  budget?: AttemptBudget | undefined;
  /** The amount that is reserved for it, on budgets or in the ledger alone; undefined until then. It is the cost where nothing tells it. */
  reserve?: AttemptReserve | undefined;
  /** Called while a stream arrives, after each read. It may end the stream with the error that it returns. */
  watch?: ((signals: Signals) => GatewayError | undefined) | undefined;
  /** Set where `telemetry.prefix_hashes` is on. Called once, when the reply has ended. @param answered by this attempt; else there are none */
  prefixes?: ((answered: boolean) => PromptPrefixes | undefined) | undefined;
  readonly tries: TryRecord[];
  /** The look-up in the semantic cache; undefined when there was none. */
  semantic: SemanticLookup | undefined;
  /** Set when the attempt waits for another request's reply; monotonic ms. `to` is undefined meanwhile. */
  wait: { readonly from: number; to: number | undefined } | undefined;
  signals: Signals | undefined;
}

/** The most that an attempt can use. */
interface AttemptReserve {
  /** Nano-USD and tokens. */
  readonly amounts: { readonly usd: number; readonly tokens: number };
  /** The amount in USD is that of a price list. */
  readonly isPriced: boolean;
  /** Tokens of the prompt, from which the amounts are computed. */
  readonly prompt: number;
  /** Tokens of all answers, from which the amounts are computed. */
  readonly answers: number;
  /** Tokens of all answers at their maximum length. */
  readonly mostOutput: number;
}

/** The amounts that an attempt has reserved, or would have reserved, of the caller's budgets. */
export interface AttemptBudget {
  /** Budgets on which it counts, the outer nodes first: `team:search:month:usd`. */
  readonly counted: readonly string[];
  /** Nano-USD; undefined when no budget counts USD. */
  readonly usd: number | undefined;
  /** Undefined when no budget counts tokens. */
  readonly tokens: number | undefined;
  /** The longest answer in tokens on which the reserve rests; undefined: none is known. */
  readonly output: number | undefined;
  /** Budgets that only warn, and that it exceeds. */
  readonly warned: readonly string[];
  /** Headers in which the client's API shows how much of a budget is spent. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** A part of a request that names a stored file. */
export interface SentFile {
  readonly id: string;
  readonly bytes: number;
  readonly mime: string;
  /** Place of the part: `messages[0].content[1]`. */
  readonly param: string;
  /** inline: the bytes are in the request. uri: the provider reads the file at its address. */
  readonly way: 'inline' | 'uri';
  /** Address in Cloud Storage; undefined for a file in a local folder. */
  readonly uri: string | undefined;
}

export interface TryRecord extends PublicTryRecord {
  /** End of the wait for a free connection, when all connections to the upstream were in use. */
  waitedUntil?: number | undefined;
  /** The request was sent again because a kept-alive connection had died unnoticed. */
  resent: boolean;
  /** The whole request has left the process, and its reply is complete. */
  delivered: boolean;
  bytesIn: number;
  /** Signals of its reply, which was lost; undefined without a reply, and for the last try, whose signals the attempt has. */
  signals?: Signals | undefined;
}

/** The number of losses in a list: one entry may stand for several unnamed ones (formats/losses/losses.ts). */
export const countLosses = (losses: readonly Pick<Loss, 'count'>[]): number =>
  losses.reduce((sum, { count = 1 }) => sum + count, 0);

/** The losses of an attempt so far: in the request to the target and in the reply to the client. */
export const lossesOf = ({ losses, signals }: Pick<Attempt, 'losses' | 'signals'>): readonly Loss[] =>
  signals?.losses ? [...losses, ...signals.losses] : losses;

/** The number of retries. Calls of one batch are none, nor is a call that another call's failure cancelled. */
export function retriesOf(tries: readonly Pick<TryRecord, 'call' | 'error'>[]): number {
  if (tries.length < 2) return 0;
  const before = new Map<number, Pick<TryRecord, 'error'>>();
  let retries = 0;
  for (const record of tries) {
    const last = before.get(record.call);
    if (last && last.error?.code !== 'client_closed') retries += 1;
    before.set(record.call, record);
  }
  return retries;
}

/** The record of a try that has just begun. @param call the number of the call within its batch */
export const newTry = (call: number, startedAt: number): TryRecord => ({
  call,
  startedAt,
  waitedUntil: undefined,
  sentAt: undefined,
  firstByteAt: undefined,
  firstContentAt: undefined,
  endedAt: undefined,
  status: undefined,
  error: undefined,
  resent: false,
  delivered: false,
  bytesIn: 0,
});

/** Whether the reply is one of a cache: the attempt sent nothing. */
export const isFromCache = ({ cache }: Pick<Attempt, 'cache'>): boolean =>
  cache === 'hit' || cache === 'semantic_hit' || cache === 'shared';
