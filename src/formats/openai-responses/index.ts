import { FORMAT_DEFAULTS, type Format } from '../format.ts';
import { decodeError, encodeError } from '../openai-chat/errors.ts';
import { clean, withoutSignatures } from './clean.ts';
import { clientPaths, echo, readClient, unshown } from './client.ts';
import { compaction } from './compaction.ts';
import { counting } from './counting.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply, encodeStream } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeStreamError } from './errors.ts';
import { passThrough, passThroughEdits } from './pass-through.ts';
import { keepAlive } from './response-events.ts';
import { toPortable } from './portable.ts';
import { remoteMedia, storedMedia } from './remote-media.ts';
import { responsesLayout } from '../texts/responses-layout.ts';
import { responsesTexts } from '../texts/request-texts.ts';

/** OpenAI's Responses API (docs/protocols/openai-responses.md), for clients and for upstreams. */
export const openaiResponses = {
  ...FORMAT_DEFAULTS,
  name: 'openai-responses',
  contentType: { body: 'application/json', stream: 'text/event-stream' },
  requestIdHeader: 'x-request-id',
  // Before `response.created` the OpenAI SDK throws at every event.
  heartbeat: (sent) => (sent && keepAlive(sent)) ?? ': ping\n\n',
  readClient,
  decodeRequest,
  clientPaths,
  toPortable,
  echo,
  unshown,
  encodeRequest,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply,
  encodeStream,
  encodeError,
  encodeStreamError,
  media: { remote: remoteMedia, stored: storedMedia },
  withoutSignatures,
  counting,
  passThrough: { misfits: () => false, clean, edits: passThroughEdits, open: passThrough, streamsAsJson: false },
  texts: { reply: responsesLayout, request: responsesTexts },
} satisfies Format;

/** The same for `POST /v1/responses/compact`. */
export const responsesCompaction: Format = { ...openaiResponses, ...compaction };
