import { FORMAT_DEFAULTS, inBytes, type Format } from '../format.ts';
import { counting } from './counting.ts';
import { clean, withoutSignatures } from './clean.ts';
import { readClient, clientPaths } from './client.ts';
import { decodeReply } from './decode-reply.ts';
import { decodeRequest } from './decode-request.ts';
import { decodeStream } from './decode-stream.ts';
import { encodeReply, encodeStream } from './encode-reply.ts';
import { encodeRequest } from './encode-request.ts';
import { decodeError, encodeError, encodeStreamError } from './errors.ts';
import { mediaByUrl, remoteMedia, storedMedia } from './remote-media.ts';
import { passThrough, passThroughEdits } from './pass-through.ts';
import { misfits } from './misfits.ts';
import { toPortable } from './portable.ts';
import { messagesLayout } from '../texts/messages-layout.ts';
import { messagesTexts } from '../texts/request-texts.ts';

/**
 * Anthropic's Messages API (docs/protocols/anthropic-messages.md#request-fields), spoken by Anthropic itself and by Claude on Vertex AI.
 */
export const anthropicMessages = {
  ...FORMAT_DEFAULTS,
  name: 'anthropic-messages',
  contentType: { body: 'application/json', stream: 'text/event-stream; charset=utf-8' },
  requestIdHeader: 'request-id',
  heartbeat: 'event: ping\ndata: {"type":"ping"}\n\n',
  requestHeaders: {
    version: 'anthropic-version',
    features: {
      header: 'anthropic-beta',
      // `familya` is the neutral name of the Claude family (docs/protocols/vertex-ai.md#model-prefixes).
      ownHeaders: ['anthropic-beta', 'familya-beta'],
      field: 'anthropic_beta',
      longContext: 'context-1m-2025-08-07',
      owner: 'Only Claude has betas',
      // MCP servers (docs/protocols/openai-responses.md#mcp-servers).
      elsewhere: { 'openai-responses': /^mcp-client-/ },
    },
  },
  readClient,
  decodeRequest,
  clientPaths,
  toPortable,
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
  passThrough: { misfits, clean, edits: passThroughEdits, open: passThrough, streamsAsJson: false },
  texts: { reply: messagesLayout, request: messagesTexts },
} satisfies Format;
