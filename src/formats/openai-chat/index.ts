import type { Format } from '../format.ts';
import { readClient } from './client-options.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeInSteps, encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { passThrough } from './pass-through.ts';
import { passThroughEdits } from './pass-through-edits.ts';
import { remoteMedia } from './remote-media.ts';
import { clientPaths } from './client-paths.ts';
import { unshown } from './unshown.ts';

/**
 * OpenAI's chat completions API (docs/protocols/openai-chat.md#request-fields), for clients and for any
 * OpenAI-compatible upstream.
 */
export const openaiChat: Format = {
  name: 'openai-chat',
  contentType: { body: 'application/json', stream: 'text/event-stream' },
  requestIdHeader: 'x-request-id',
  heartbeat: ': ping\n\n',
  readClient,
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
  remoteMedia,
  unshown,
};
