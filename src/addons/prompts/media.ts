import type { PromptVariable } from '../../../schemas/types.generated.ts';

type PromptMedia = NonNullable<PromptVariable['media']>;

export type ChatPart = Readonly<Record<string, unknown>>;

const ADDRESS = /^(?:https?|gs):\/\/\S{1,8192}$/i;
const DATA = /^data:([a-z0-9.+-]{1,64}\/[a-z0-9.+-]{1,128});base64,([A-Za-z0-9+/_=-]+)$/i;
const FILE_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,255}$/;

/** The part of a media value: an address, a data URL or a file id. The variable's declaration sets its type. */
export function mediaPart(kind: PromptMedia, name: string, text: string): ChatPart | undefined {
  if (ADDRESS.test(text))
    return kind === 'file'
      ? { type: 'file', file: { file_url: text } }
      : { type: 'image_url', image_url: { url: text } };
  const [, type, data] = DATA.exec(text) ?? [];
  if (type !== undefined && data !== undefined) return dataPart(kind, name, { text, type: type.toLowerCase(), data });
  return FILE_ID.test(text) ? { type: 'file', file: { file_id: text } } : undefined;
}

/** The chat API's own parts (docs/protocols/openai-chat.md); `image_url` carries video too, as in a chat request. */
function dataPart(
  kind: PromptMedia,
  name: string,
  { text, type, data }: { readonly text: string; readonly type: string; readonly data: string },
): ChatPart {
  const subtype = type.slice(type.indexOf('/') + 1).replace(/^x-/, '');
  if (kind === 'file') return { type: 'file', file: { file_data: text, filename: `${name}.${subtype}` } };
  if (kind !== 'audio') return { type: 'image_url', image_url: { url: text } };
  return { type: 'input_audio', input_audio: { data, format: AUDIO_FORMATS[subtype] ?? subtype } };
}

/** OpenAI's names of formats whose media type has another name. */
const AUDIO_FORMATS: Readonly<Partial<Record<string, string>>> = { mpeg: 'mp3', wave: 'wav', mp4: 'm4a' };
