import type {
  CachedReply,
  ComparedText,
  EmbedRequest,
  KeptText,
  ReplyCache,
  SemanticCache,
  SemanticLookup,
  SemanticSettings,
  TextFacts,
  TextPlace,
  Uncompared,
} from '../../src/core/kernel/index.ts';
import type { Clock } from '../../src/plugin/index.ts';
import { textPlace, type CacheQuestion } from './key.ts';

/** Maximum number of near texts whose word order is compared with that of one request. */
const MAX_ORDERS = 32;

/** Maximum number of stored texts in one call for vectors. The texts of a group have no vectors until a second text arrives. */
const VECTORS_AT_ONCE = 8;

export interface SemanticJob {
  readonly question: CacheQuestion;
  readonly key: string;
  readonly cache: ReplyCache;
  readonly semantic: SemanticCache;
  readonly clock: Clock;
  /** Reading the body takes turns with other requests. */
  readonly heavy: boolean;
}

export interface NearReply {
  readonly reply: CachedReply | undefined;
  readonly keep: (kept: CachedReply) => void;
}

/** Sets the attempt's `semantic`. Rejects only when the client has left: late or missing vectors are a miss. */
export async function lookUpNear(job: SemanticJob, settings: SemanticSettings): Promise<NearReply> {
  const { semantic, question } = job;
  const { exchange, attempt } = question;
  const asked = job.heavy ? 'large_body' : semantic.split(exchange, attempt);
  if (typeof asked === 'string') {
    attempt.semantic = { result: 'unfit', reason: asked };
    return { reply: undefined, keep() {} };
  }
  const place = textPlace(question, asked);
  const { lookup, reply, vector } = await compare(job, { place, asked, settings });
  attempt.semantic = lookup;
  attempt.cancellation.throwIfCancelled();
  return { reply, keep: keeper(job, { place, asked, vector }) };
}

/** Stores the text with the reply of a request that skips the look-up. */
export function keepOnly(job: SemanticJob): NearReply | undefined {
  const { semantic, question } = job;
  const asked = job.heavy ? 'large_body' : semantic.split(question.exchange, question.attempt);
  if (typeof asked === 'string') return undefined;
  return { reply: undefined, keep: keeper(job, { place: textPlace(question, asked), asked, vector: undefined }) };
}

function keeper(
  { semantic, key, question: { exchange } }: SemanticJob,
  {
    place,
    asked: { text, facts },
    vector,
  }: { place: TextPlace; asked: ComparedText; vector: Float32Array | undefined },
): NearReply['keep'] {
  // The request body is released before a stream ends: the closure holds the short text alone.
  return (kept) => {
    if (semantic.isText(kept, exchange)) semantic.add(place, { key, text, facts }, vector);
  };
}

interface Comparison {
  readonly place: TextPlace;
  readonly asked: ComparedText;
  readonly settings: SemanticSettings;
}

interface Compared {
  readonly lookup: SemanticLookup;
  readonly reply?: CachedReply | undefined;
  readonly vector?: Float32Array | undefined;
}

async function compare(job: SemanticJob, { place, asked, settings }: Comparison): Promise<Compared> {
  const { semantic, question } = job;
  const { candidates, lookup } = candidatesFor(job, place, asked.facts);
  if (lookup) return { lookup };
  const bare = candidates.filter(({ text }) => text !== undefined).slice(-VECTORS_AT_ONCE);
  const texts = [asked.text, ...bare.map(({ text }) => text ?? '')];
  const request: EmbedRequest = { exchange: question.exchange, attempt: question.attempt, settings, texts };
  const { vectors, call, error } = await semantic.embed(request);
  const [vector, ...others] = vectors ?? [];
  if (!vector) {
    const result = call?.result === 'late' ? 'late' : 'failed';
    return { lookup: { result, reason: error, embedding: call } };
  }
  for (const [index, kept] of bare.entries()) semantic.keepVector(kept, others[index]!);
  const { best, near, isReordered } = nearest(job, candidates, { vector, facts: asked.facts, settings });
  if (!near && isReordered)
    return { lookup: { result: 'differs', reason: 'words', similarity: best, embedding: call }, vector };
  if (near) semantic.use(near);
  return {
    lookup: { result: near ? 'hit' : 'below_threshold', similarity: best, embedding: call },
    reply: near && job.cache.find(near.key),
    vector,
  };
}

/** The stored texts with the same facts as the request. Without any, the result of the look-up. */
function candidatesFor(
  { semantic, key, cache }: SemanticJob,
  place: TextPlace,
  facts: TextFacts,
): { readonly candidates: readonly KeptText[]; readonly lookup?: SemanticLookup } {
  const all = semantic.texts(place).filter((kept) => kept.key !== key);
  let reason: keyof TextFacts | undefined;
  const candidates = all.filter((kept) => {
    const fact = semantic.unequalFact(kept.facts, facts);
    // The text that agrees in most facts explains the miss.
    if (fact && (!reason || FACT_NAMES.indexOf(fact) > FACT_NAMES.indexOf(reason))) reason = fact;
    return fact === undefined && isThere(semantic, cache, kept);
  });
  if (candidates.length > 0) return { candidates };
  return { candidates, lookup: reason ? { result: 'differs', reason } : { result: 'first' } };
}

function isThere(semantic: SemanticCache, cache: SemanticJob['cache'], kept: KeptText): boolean {
  if (cache.peek(kept.key)) return true;
  semantic.remove(kept);
  return false;
}

interface Asked {
  readonly vector: Float32Array;
  readonly facts: TextFacts;
  readonly settings: SemanticSettings;
}

interface Nearest {
  /** The greatest similarity: of the near text, or of any where none is near. */
  readonly best: number | undefined;
  readonly near: KeptText | undefined;
  /** A text is near, but its words come in another order. */
  readonly isReordered: boolean;
}

function nearest(
  { semantic, cache, clock, question }: SemanticJob,
  candidates: readonly KeptText[],
  { vector, facts, settings }: Asked,
): Nearest {
  let best: number | undefined;
  let near: { readonly kept: KeptText; readonly similarity: number } | undefined;
  let orders = 0;
  for (const kept of candidates) {
    const similarity = semantic.similarity(kept, vector);
    if (similarity === undefined || (near && similarity <= near.similarity)) continue;
    const reply = cache.peek(kept.key);
    // The entry may have been stored under another config's `max_age`; this config's limit applies as well.
    if (!reply || clock.now() - reply.storedAt >= question.settings.maxAgeMs) continue;
    best = Math.max(best ?? -1, similarity);
    if (similarity < settings.threshold || orders === MAX_ORDERS) continue;
    orders += 1;
    if (semantic.inSameOrder(kept.facts, facts)) near = { kept, similarity };
  }
  return { best: near?.similarity ?? best, near: near?.kept, isReordered: orders > 0 };
}

/** Why a request is compared exactly only, for explain. */
export const UNCOMPARED: Readonly<Record<Uncompared, string>> = {
  operation: 'the request is no conversation',
  last_turn: 'its last message is not the text of a user',
  media: 'a message has a part that is no text',
  tools: 'a message has a tool call or the result of a tool',
  long_text: 'the last user text has more than 1,000 characters',
  empty_text: 'the last user text is empty',
  large_body: 'its messages are too large',
};

/** The facts in which texts differ, for explain, in the order in which they are compared. */
export const FACTS: Readonly<Record<keyof TextFacts, string>> = {
  numbers: 'numbers, dates or units',
  polarity: 'negations or opposites',
  names: 'names',
  words: 'the order of words',
};

// `Object.keys` returns `string[]`; the keys of the table are exactly those of `TextFacts`.
const FACT_NAMES = Object.keys(FACTS) as readonly (keyof TextFacts)[];
