import type { MediaPart } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import { bareMime } from '../media/media-types.ts';
import { IMAGE_TYPES, mediaByUrl, PDF_TYPE } from './remote-media.ts';
import { BodyPlace } from '../losses/place.ts';
import type { WireBlock, RequestContext } from './request-context.ts';
import { shownText } from '../json/shown.ts';

/** Media that Claude cannot read are a 400 that names the part (docs/protocols/requests.md#unreadable-media). */
export function encodeMedia(part: MediaPart, path: BodyPlace, context: RequestContext): WireBlock {
  if (part.detail !== undefined && part.detail !== 'auto') {
    context.losses.dropped(BodyPlace.field(path, 'image_url.detail'), 'Claude has no image detail setting');
  }
  const parameters = parametersOf(part);
  if (parameters !== undefined && !CHARSET.test(parameters)) {
    context.losses.dropped(path, `Claude takes media types without parameters: ${shownText(parameters)}`);
  }
  const { source } = part;
  switch (source.kind) {
    case 'data':
      return encodeData(part, source.data, { path, context });
    case 'text':
      return document(part, { type: 'text', media_type: 'text/plain', data: source.text });
    case 'file':
      refuseFile(source.id, path, context);
      return part.media === 'image'
        ? { type: 'image', source: { type: 'file', file_id: source.id } }
        : document(part, { type: 'file', file_id: source.id });
    case 'url':
      return encodeUrl(part, source.url, { path, context });
  }
}

interface Destination {
  readonly path: BodyPlace;
  readonly context: RequestContext;
}

function encodeData(part: MediaPart, data: string, { path, context }: Destination): WireBlock {
  const mime = part.mime === undefined ? undefined : bareMime(part.mime);
  if (mime === undefined)
    throw new RequestFault('invalid_value', `\`${String(path)}\` does not say its media type.`, path);
  if (IMAGE_TYPES.has(mime)) {
    if (part.name !== undefined)
      context.losses.dropped(BodyPlace.field(path, 'file.filename'), 'Claude has no image names');
    return { type: 'image', source: { type: 'base64', media_type: mime, data } };
  }
  if (mime === PDF_TYPE) return document(part, { type: 'base64', media_type: mime, data });
  if (mime.startsWith('text/')) {
    // Claude knows plain text only (docs/protocols/anthropic-messages.md#sources); other text types are sent as plain text rather than
    // refused.
    if (mime !== 'text/plain') context.losses.downgraded(path, `Claude reads ${shownText(mime)} as plain text`);
    return document(part, { type: 'text', media_type: 'text/plain', data: textIn(data, parametersOf(part), path) });
  }
  throw unsupported(path, mime);
}

/** A charset is not a loss: it decodes the text. */
const CHARSET = /^charset="?([^";]+)"?$/i;

/** Parameters of a data URI, or of the media type given beside the data. */
function parametersOf({ mime = '', parameters }: MediaPart): string | undefined {
  const at = mime.indexOf(';');
  return parameters ?? (at < 0 ? undefined : mime.slice(at + 1).trim());
}

const UTF8 = 'utf-8';

function textIn(data: string, parameters: string | undefined, path: BodyPlace): string {
  const [, charset = UTF8] = CHARSET.exec(parameters ?? '') ?? [];
  const bytes = Buffer.from(data, 'base64');
  // A body may hold thousands of short texts, and a decoder takes longer than most of them (measured).
  if (charset === UTF8) return bytes.toString('utf8');
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(bytes);
  } catch {
    throw new RequestFault(
      'invalid_value',
      `\`${String(path)}\` is text in \`${shownText(charset)}\`, which cannot be read.`,
      path,
    );
  }
}

/** Vertex AI has no Files API (docs/protocols/vertex-ai.md#claude-features-not-served). */
function refuseFile(id: string, path: BodyPlace, { target }: RequestContext): void {
  const isForeign = OPENAI_FILE.test(id);
  if (target.host !== 'vertex' && !isForeign) return;
  const why = isForeign ? 'a file at OpenAI, which Claude cannot read' : 'a file, and Claude on Vertex AI has no files';
  throw new RequestFault('invalid_value', `\`${String(path)}\` is the id of ${why}: send it as a data URI.`, path);
}

/** Anthropic's own ids begin with `file_`. */
const OPENAI_FILE = /^file-/;

function encodeUrl(part: MediaPart, url: string, { path, context }: Destination): WireBlock {
  const { host, passUrls = false } = context.target;
  if (mediaByUrl.fetches({ ...part, mime: part.mime, url }, { host, native: context.native, pass: passUrls })) {
    const source = { type: 'url', url };
    return part.media === 'image' ? { type: 'image', source } : document(part, source);
  }
  throw new RequestFault(
    'invalid_value',
    `\`${String(path)}\` is a URL that the gateway cannot pass to Claude: send a data URI (\`data:<type>;base64,…\`).`,
    path,
  );
}

function document(part: MediaPart, source: WireBlock): WireBlock {
  return { type: 'document', source, ...(part.name !== undefined && { title: part.name }) };
}

function unsupported(path: BodyPlace, mime: string): RequestFault {
  return new RequestFault(
    'invalid_value',
    `\`${String(path)}\` is ${shownText(mime)}. Claude reads JPEG, PNG, GIF and WebP images, PDF and plain text.`,
    path,
  );
}
