import { formats } from '../../src/formats/index.ts';
import { GatewayError } from '../../src/plugin/index.ts';
import { RequestBody, type Operation, type ResolvedTarget } from '../../src/core/kernel/index.ts';
import { createAttempt, createExchange, createFakeClock } from '../../src/plugin/testing/index.ts';
import { lossHeader } from '../../src/core/http/gateway/reply-headers.ts';
import { createTranslator } from '../../src/core/translate/translator.ts';
import type { Json } from './repeat.ts';

const MAX_DEPTH = 64;
const translator = createTranslator(createFakeClock());

/** The bytes of a body. */
export const bytesOf = (body: Json): Buffer => Buffer.from(JSON.stringify(body));

/** What the gateway does with a body before it is sent: reads it, checks it and writes it for its target. A refusal is an outcome. */
export function serve(bytes: Buffer, operation: Operation, resolved: ResolvedTarget): string {
  try {
    const body = RequestBody.read(bytes, MAX_DEPTH);
    const json = body.json();
    const fault = operation.validate(json);
    if (fault) return fault.message;
    const exchange = createExchange({ operation });
    const attempt = createAttempt(exchange, { body, resolved });
    if (formats[resolved.format].media?.byUrl) operation.format.media?.remote(json);
    const { outbound, losses } = translator.prepare(exchange, attempt, resolved);
    return `${outbound.body.length} ${losses.length > 0 ? lossHeader(losses) : ''}`;
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
    throw error;
  }
}

/** The least that anything can do with the same bytes. */
export function parseAndWrite(bytes: Buffer): string {
  return JSON.stringify(JSON.parse(bytes.toString('utf8')));
}
