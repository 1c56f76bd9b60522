import type { OutboundExplanation } from '../../explanation/explanation.ts';
import { parseReplyText } from '../../../formats/json/rounding.ts';
import type { Observation, SeenAttempt } from '../observation.ts';
import { originsOf } from './outbound-fields.ts';
import { describeHeaders } from './outbound-headers.ts';
import { urlSources } from './outbound-url.ts';

/** Describes the outbound request with the sources of its parts. */
export function describeOutbound(seen: Observation, one: SeenAttempt): OutboundExplanation | undefined {
  const { outbound, calls } = one;
  if (!outbound) return undefined;
  const origins = originsOf(seen, one);
  return {
    method: calls[0]?.request.method ?? 'POST',
    url: outbound.origin + outbound.path,
    urlSources: urlSources(seen, one, origins),
    headers: describeHeaders(seen, one, origins),
    body: describeBody(outbound.body.toString()),
    bytes: Buffer.byteLength(outbound.body),
    calls: outbound.batch?.bodies.length ?? 1,
    stream: outbound.stream,
    fields: origins.fields,
    ...(origins.fieldsUpTo !== undefined && { fieldsUpTo: origins.fieldsUpTo }),
  };
}

/** The bodies of all upstream calls of a request, byte for byte. */
export function outboundBytes({ outbound }: SeenAttempt): readonly Buffer[] {
  if (!outbound) return [];
  return (outbound.batch?.bodies ?? [outbound.body]).map((body) =>
    typeof body === 'string' ? Buffer.from(body) : body,
  );
}

/**
 * Parses the body; a number with many digits becomes an object that only `JSON.stringify` reads. Returns text that is
 * not JSON unchanged.
 */
function describeBody(text: string): unknown {
  try {
    return parseReplyText(text);
  } catch {
    return text;
  }
}
