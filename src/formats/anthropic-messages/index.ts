import type { Format } from '../format.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply, encodeStream } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { passThrough } from './pass-through.ts';
import { passThroughEdits } from './pass-through-edits.ts';

/** Anthropic's Messages API (wire.md B), spoken by Anthropic itself and by Claude on Vertex. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  contentType: { body: 'application/json', stream: 'text/event-stream; charset=utf-8' },
  decodeRequest,
  encodeRequest,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply,
  encodeStream,
  encodeError,
  encodeStreamError,
  passThroughEdits,
  passThrough,
};
