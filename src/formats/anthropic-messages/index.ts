import type { Format } from '../format.ts';
import { counting } from './counting.ts';
import { clean } from './clean.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply, encodeStream } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { mediaByUrl } from './media-types.ts';
import { passThrough } from './pass-through.ts';
import { passThroughEdits } from './pass-through-edits.ts';
import { toPortable } from './portable.ts';
import { remoteMedia } from './remote-media.ts';

/** Anthropic's Messages API (wire.md B), spoken by Anthropic itself and by Claude on Vertex. */
export const anthropicMessages: Format = {
  name: 'anthropic-messages',
  contentType: { body: 'application/json', stream: 'text/event-stream; charset=utf-8' },
  requestIdHeader: 'request-id',
  heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
  decodeRequest,
  toPortable,
  encodeRequest,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply,
  encodeStream,
  encodeError,
  encodeStreamError,
  passThroughEdits,
  clean,
  passThrough,
  counting,
  remoteMedia,
  mediaByUrl,
};
