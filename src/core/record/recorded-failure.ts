import { failureKinds, type GatewayError } from '../../plugin/index.ts';
import { cut } from './cut.ts';
import type { RecordedFailure } from './record.ts';
import { scrub } from './scrub.ts';

/** Maximum length, in characters, of an upstream's message. Vendors' longest common ones have about 400. */
const MAX_MESSAGE = 512;
/** Length of the text that is searched for credentials: an upstream may send a megabyte. */
const SCRUBBED = 4 * MAX_MESSAGE;

/** Credentials are replaced before the text is truncated: half of one may not have the form of a credential. */
const reported = (text: string | undefined, length?: number): string | undefined =>
  text === undefined ? undefined : cut(scrub(text.slice(0, SCRUBBED)), length);

export function failureOf(error: GatewayError): RecordedFailure {
  return {
    kinds: failureKinds(error),
    status: error.status,
    upstreamKind: error.upstreamKind === undefined ? undefined : cut(error.upstreamKind),
    upstreamMessage: reported(error.upstreamReport?.message, MAX_MESSAGE),
    upstreamParam: reported(error.upstreamReport?.param),
    upstreamCode: reported(error.upstreamReport?.code),
    retryAfterMs: error.retryAfterMs,
  };
}
