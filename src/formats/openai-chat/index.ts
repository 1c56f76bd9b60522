import { FORMAT_DEFAULTS, inBytes, type Format } from '../format.ts';
import { clean, withoutSignatures } from './clean.ts';
import { readClient, clientPaths, unshown } from './client.ts';
import { counting } from './counting.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStream } from './encode-stream.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { passThrough, passThroughEdits } from './pass-through.ts';
import { mediaByUrl, remoteMedia, storedMedia } from './remote-media.ts';
import { chatLayout } from '../texts/chat-layout.ts';
import { chatTexts } from '../texts/request-texts.ts';

/** OpenAI's chat completions API (docs/protocols/openai-chat.md), for clients and for compatible upstreams. */
export const openaiChat = {
  ...FORMAT_DEFAULTS,
  name: 'openai-chat',
  contentType: { body: 'application/json', stream: 'text/event-stream' },
  requestIdHeader: 'x-request-id',
  // Without the blank line, at which OpenAI's SDK for Python dispatches an event once it has an id.
  heartbeat: (sent) => (sent?.signals?.named ? ': ping\n' : ': ping\n\n'),
  readClient,
  decodeRequest,
  clientPaths,
  unshown,
  encodeRequest,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply: inBytes(encodeReply),
  encodeStream,
  encodeError,
  encodeStreamError,
  media: { remote: remoteMedia, stored: storedMedia, byUrl: mediaByUrl },
  withoutSignatures,
  counting,
  passThrough: { misfits: () => false, clean, edits: passThroughEdits, open: passThrough, streamsAsJson: false },
  texts: { reply: chatLayout, request: chatTexts },
} satisfies Format;
