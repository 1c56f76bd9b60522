import type { JsonObject, MediaPart, Part, StoredMedia } from '../conversation.ts';
import type { GenerationEvent } from '../events.ts';
import type { ClientContext } from '../format.ts';
import { sniffAudioMime } from '../media/media-types.ts';
import type { BlockNumbers } from './decode-blocks.ts';
import { stringOf } from '../json/object.ts';

/**
 * Reads `audio` of a message or a delta: `{id, data, expires_at, transcript}` (docs/protocols/openai-chat.md#audio).
 * The transcript is emitted as text. The audio data is held until the choice ends.
 */
export class AudioReader {
  readonly #choice: number;
  readonly #blocks: BlockNumbers;
  readonly #pieces: Buffer[] = [];
  #id: string | undefined;
  #expiresAt: number | undefined;

  constructor(choice: number, blocks: BlockNumbers) {
    this.#choice = choice;
    this.#blocks = blocks;
  }

  read(audio: JsonObject, out: GenerationEvent[]): void {
    this.#id ??= stringOf(audio.id) || undefined;
    if (typeof audio.expires_at === 'number') this.#expiresAt = audio.expires_at;
    const text = stringOf(audio.transcript);
    if (text) out.push({ type: 'text', choice: this.#choice, block: this.#blocks.open('spoken'), text, spoken: true });
    const data = stringOf(audio.data);
    if (data) this.#pieces.push(Buffer.from(data, 'base64'));
  }

  close(out: GenerationEvent[]): void {
    if (this.#pieces.length === 0) return;
    const data = Buffer.concat(this.#pieces).toString('base64');
    const [id, expiresAt] = [this.#id, this.#expiresAt];
    out.push({
      type: 'media',
      choice: this.#choice,
      block: this.#blocks.next(),
      mime: sniffAudioMime(data),
      data,
      ...(id !== undefined && { stored: { id, ...(expiresAt !== undefined && { expiresAt }) } }),
    });
  }
}

/**
 * Generated audio is a field of OpenAI's own API, so strict clients get it too (docs/protocols/openai-chat.md#audio).
 * The id and the expiry come from the provider. A provider without them stores nothing: the id and the creation time of
 * this reply take their place, and later messages cannot refer to the audio.
 */
export function encodeAudio(parts: readonly Part[], client: ClientContext): JsonObject | undefined {
  if (!parts.some(isHeard)) return undefined;
  const audios = parts.filter(isAudio);
  const spoken = parts.flatMap((part) => (part.type === 'text' && part.spoken ? [part.text] : []));
  const pieces = audios.flatMap(({ source }) => (source.kind === 'data' ? [Buffer.from(source.data, 'base64')] : []));
  return {
    ...audioName(audios.find((audio) => audio.stored)?.stored, client),
    data: Buffer.concat(pieces).toString('base64'),
    transcript: spoken.join(''),
  };
}

const isHeard = (part: Part): boolean => isAudio(part) || (part.type === 'text' && part.spoken === true);

function isAudio(part: Part): part is MediaPart {
  return part.type === 'media' && part.media === 'audio';
}

export function audioName(stored: StoredMedia | undefined, client: ClientContext): JsonObject {
  return { id: stored?.id ?? `audio_${client.id}`, expires_at: stored?.expiresAt ?? client.created };
}
