import { compact, isObject } from '../../../../formats/json/object.ts';
import { RequestFault } from '../../../../formats/faults.ts';
import type { LossReport } from '../../../../formats/losses/losses.ts';
import { invalidValue } from '../../../../formats/openai-chat/read.ts';
import { asText, EmbeddingFields, asSeconds, asString } from './request.ts';
import { mimeOfUrl, parseDataUri } from '../../../../formats/media/media-types.ts';

/** OpenAI's limit (docs/protocols/embeddings.md#openai-request), which applies here also to requests that need several calls. */
const MAX_INPUTS = 2048;

export interface Input {
  /** Its path in the body. */
  readonly param: string;
  readonly text?: string;
  readonly media: readonly Media[];
}

export const ALL_MEDIA: ReadonlySet<MediaKind> = new Set(['image', 'video', 'audio', 'document']);

interface InputRules {
  /** The kinds of media that the model embeds besides text. */
  readonly media: ReadonlySet<MediaKind>;
  readonly losses: LossReport;
}

/** `input` as a list. Throws RequestFault. */
export function readInputs(value: unknown, rules: InputRules): readonly Input[] {
  if (!Array.isArray(value)) return [readInput(value, 'input', rules)];
  if (value.some((item) => typeof item === 'number' || Array.isArray(item))) throw tokensInPlaceOfText();
  if (value.length > MAX_INPUTS)
    throw invalidValue('input', `\`input\` has ${value.length} entries, ${MAX_INPUTS} are allowed.`);
  return value.map((item: unknown, index) => readInput(item, `input[${index}]`, rules));
}

/** Refuses tokens: they are numbers of OpenAI's vocabulary, which no other model has. */
const tokensInPlaceOfText = (): RequestFault =>
  invalidValue(
    'input',
    '`input` contains tokens, which this model cannot read: send text (LangChain for Python: check_embedding_ctx_length=False).',
  );

function readInput(value: unknown, param: string, rules: InputRules): Input {
  if (typeof value === 'string') return { param, text: asText(value, param), media: [] };
  if (!isObject(value))
    throw new RequestFault('invalid_request', `\`${param}\` must be text, or an object with \`text\` or media.`, param);
  const fields = new EmbeddingFields(value, param);
  const text = fields.take(['text'], asText);
  const media = [...ALL_MEDIA].flatMap((kind) => {
    const refuse = (at: string) => invalidValue(at, `This model does not embed \`${at}\`.`);
    const given = fields.take([kind], (medium, at) => {
      if (!rules.media.has(kind)) throw refuse(at);
      return readMedia(kind, medium, { param: at, losses: rules.losses });
    });
    return given ?? [];
  });
  if (text === undefined && media.length === 0)
    throw invalidValue(param, `\`${param}\` has nothing to embed: it needs \`text\`, or media that the model accepts.`);
  fields.reportRest(rules.losses);
  return compact({ param, text, media });
}

export type MediaKind = 'image' | 'video' | 'audio' | 'document';

export interface Media {
  readonly kind: MediaKind;
  /** Its path in the body. */
  readonly param: string;
  /** base64 */
  readonly data?: string;
  readonly uri?: string;
  readonly mime?: string;
  readonly segment: Segment;
}

/** The part of a video to embed, in seconds. */
interface Segment {
  readonly start?: number;
  readonly end?: number;
  readonly interval?: number;
}

/** Reads `{base64}` or `{url}`, with `mime_type`; a bare address is a url (docs/protocols/embeddings.md#mapping). */
function readMedia(kind: MediaKind, value: unknown, at: { param: string; losses: LossReport }): Media {
  const { param, losses } = at;
  if (typeof value === 'string') return { kind, param, ...fromUrl(value, param), segment: {} };
  if (!isObject(value)) throw new RequestFault('invalid_request', `\`${param}\` must be an object.`, param);
  const fields = new EmbeddingFields(value, param);
  const data = fields.take(['base64'], asText);
  const url = fields.take(['url'], asText);
  if ((data === undefined) === (url === undefined))
    throw invalidValue(param, `\`${param}\` needs one of \`base64\` and \`url\`.`);
  const mime = fields.take(['mime_type'], asString);
  const segment = kind === 'video' ? readSegment(fields) : {};
  fields.reportRest(losses);
  // Some clients send complete data URIs as `base64`.
  const source = data === undefined ? fromUrl(url ?? '', fields.param('url')) : (fromDataUri(data) ?? { data });
  return { kind, param, ...source, ...compact({ mime }), segment };
}

type InputMedia = Pick<Media, 'data' | 'uri' | 'mime'>;

function fromDataUri(text: string): InputMedia | undefined {
  const parsed = parseDataUri(text);
  return parsed && compact({ data: parsed.data, mime: parsed.mime });
}

function fromUrl(url: string, param: string): InputMedia {
  const inline = fromDataUri(url);
  if (inline) return inline;
  if (!/^(?:gs|https?):\/\/./i.test(url))
    throw invalidValue(param, `\`${param}\` must be a gs://, https:// or data: address.`);
  return compact({ uri: url, mime: mimeOfUrl(url) });
}

const readSegment = (fields: EmbeddingFields): Segment =>
  compact({
    start: fields.take(['start_offset'], asSeconds),
    end: fields.take(['end_offset'], asSeconds),
    interval: fields.take(['interval'], asSeconds),
  });
