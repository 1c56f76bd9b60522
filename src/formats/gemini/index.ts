import type { Format } from '../format.ts';
import { counting } from './usage.ts';
import { decodeReply, decodeStream } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeInSteps, encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { passThrough, passThroughEdits } from './pass-through.ts';
import { clientPaths } from './client-paths.ts';
import { withoutSignatures } from './without-signatures.ts';

/**
 * Google's generateContent and streamGenerateContent, on Vertex AI and on the Gemini Developer API
 * (docs/protocols/gemini.md#request-body).
 */
export const gemini: Format = {
  name: 'gemini',
  contentType: { body: 'application/json; charset=UTF-8', stream: 'text/event-stream' },
  requestIdHeader: 'x-request-id',
  heartbeat: ': ping\n\n',
  // Ids have no prefix in this API. Every chunk has usage, requested or not.
  readClient: (_body, { id, strict }) => ({ id, strict, includeUsage: true }),
  decodeRequest,
  clientPaths,
  encodeRequest,
  encodeInSteps,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply,
  encodeStream,
  encodeError,
  encodeStreamError,
  passThroughEdits,
  passThrough,
  withoutSignatures,
  counting,
};
