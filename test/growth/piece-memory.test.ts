import { expect, test } from 'vitest';
import { Tee } from '../../plugins/cache/keep.ts';
import { KeptPlainBody } from '../../src/addons/responses/plugins/responses/kept-body.ts';
import { formats } from '../../src/formats/index.ts';
import { translatingReader } from '../../src/formats/streams/readers.ts';
import { embeddings } from '../../src/core/operations/openai.ts';
import { createAttempt, createExchange, createFakeClock, createSource } from '../../src/plugin/testing/index.ts';
import { createTranslator } from '../../src/core/translate/translator.ts';
import { BoundedBody } from '../../src/core/upstream/bounded-body.ts';
import { collectGarbage } from './measure.ts';
import { NAMES } from './replies-run.ts';
import { ROUTES } from './request-pairs.ts';

const BYTES = 200_000;
/** A Buffer of one byte takes 100 bytes of heap and more, so that as many as there are bytes would take 20 MB. */
const MOST = 4 * 1024 * 1024;

interface Holder {
  readonly push: (bytes: Buffer) => unknown;
}

const context = { id: 'id', created: 1, strict: false, includeUsage: false, model: 'm' };
const reply = { model: 'm', newCallId: () => 'call' };
const of = (upstream: 'openai-chat' | 'gemini') => ({
  upstream: formats[upstream],
  client: formats['anthropic-messages'],
  reply,
  context,
});

function readerOfTask(): Holder {
  const route = ROUTES.find(({ operation }) => operation === embeddings)!;
  const resolved = route.formats['text on vertex']!;
  const exchange = createExchange({ operation: embeddings, json: { model: 'm', input: 'x' } });
  const attempt = createAttempt(exchange, { resolved });
  const { outbound } = createTranslator(createFakeClock()).prepare(exchange, attempt, resolved);
  return outbound.openReader({ status: 200, headers: {} });
}

/** What holds a whole reply until its end. */
const HOLDERS: readonly (readonly [string, () => Holder])[] = [
  ...NAMES.map(
    (name) =>
      [`a plain reply of ${name} for its own client`, () => formats[name].passThrough!.open(context, false)] as const,
  ),
  ['a plain reply that is translated', () => translatingReader(of('openai-chat'), false, 'application/json')],
  ['a plain reply to a request for a stream', () => translatingReader(of('gemini'), true, 'application/json')],
  ['a reply with vectors that are translated', readerOfTask],
  ['a refusal', () => new BoundedBody(BYTES)],
  ['a reply that the cache keeps', () => new Tee(createSource(), BYTES, () => {})],
  ['a response that is kept', () => new KeptPlainBody(createSource(), BYTES, () => {})],
];

test.each(HOLDERS)('The memory of %s is that of its bytes, also where they come one by one', (_, open) => {
  const holder = open();
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  holder.push(Buffer.from('{'));
  for (let at = 1; at < BYTES; at += 1) holder.push(Buffer.from(' '));
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(MOST);
  holder.push(Buffer.from('}'));
});
