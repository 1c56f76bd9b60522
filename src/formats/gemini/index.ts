import { FORMAT_DEFAULTS, inBytes, type Format } from '../format.ts';
import { counting } from './usage.ts';
import { clean, withoutSignatures } from './clean.ts';
import { clientPaths, readClient } from './client.ts';
import { decodeReply, decodeStream } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { encodeReply } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { encodeArray, encodeStream } from './encode-stream.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { arrayPassThrough, passThrough, passThroughEdits } from './pass-through.ts';
import { encodeArrayError, encodeFirstError } from './json-array.ts';
import { remoteMedia, storedMedia } from './file-data.ts';
import { geminiLayout } from '../texts/gemini-layout.ts';
import { geminiTexts } from '../texts/request-texts.ts';

/** Google's generateContent, on Vertex AI and on the Gemini Developer API (docs/protocols/gemini.md#request-body). */
export const gemini = {
  ...FORMAT_DEFAULTS,
  name: 'gemini',
  contentType: { body: 'application/json; charset=UTF-8', stream: 'text/event-stream' },
  requestIdHeader: 'x-request-id',
  // Google's SDKs for Python and Go fail at every line that is neither empty nor `data: `, comments among them.
  heartbeat: '\n\n',
  readClient,
  decodeRequest,
  clientPaths,
  encodeRequest,
  decodeReply,
  decodeStream,
  decodeError,
  encodeReply: inBytes(encodeReply),
  encodeStream,
  encodeError,
  encodeStreamError,
  media: { remote: remoteMedia, stored: storedMedia },
  withoutSignatures,
  counting,
  passThrough: { misfits: () => false, clean, edits: passThroughEdits, open: passThrough, streamsAsJson: true },
  texts: { reply: geminiLayout, request: geminiTexts },
} satisfies Format;

/** The same API for clients that did not ask for `alt=sse`: they get a stream as one JSON array. */
export const geminiArray = {
  ...gemini,
  contentType: { ...gemini.contentType, stream: gemini.contentType.body },
  // White space is allowed around the elements of an array (RFC 8259, section 2), and only whole elements are written.
  heartbeat: '\r\n',
  encodeStream: encodeArray,
  encodeError: encodeFirstError,
  encodeStreamError: encodeArrayError,
  passThrough: { ...gemini.passThrough, open: arrayPassThrough },
} satisfies Format;
