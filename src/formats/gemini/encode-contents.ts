import type {
  Conversation,
  JsonObject,
  MediaPart,
  OpaquePart,
  Part,
  TextPart,
  ThinkingPart,
  ToolCallPart,
  Turn,
} from '../conversation.ts';
import type { RequestTarget } from '../request-target.ts';
import { append } from '../json/object.ts';
import { OpenActions } from '../open-actions.ts';
import { messagesOf } from '../losses/places.ts';
import { BodyPlace } from '../losses/place.ts';
import { encodeMedia, reportUnsent } from './encode-media.ts';
import { CallIndex, encodeResults, type PendingResult } from './encode-results.ts';
import type { LossReport } from '../losses/losses.ts';
import { makerOf } from '../maker.ts';
import { MCP_AS_TEXT, mcpText } from '../mcp-parts.ts';
import { loseOpaque } from '../opaque-parts.ts';
import type { ModelTraits } from './models.ts';
import { isCandidateMetadata } from './metadata.ts';
import { encodeCode, fromPartBlock, isPartBlock, signed } from './parts.ts';
import { OWN_MAKER, SKIP_SIGNATURE, splitCallId } from './thought-signature.ts';
import { encodeArguments, type ArgumentTexts } from '../call-arguments.ts';

interface EncodedContents {
  readonly contents: JsonObject[];
  readonly systemInstruction?: JsonObject;
}

interface Content {
  readonly content: { readonly role: 'user' | 'model'; readonly parts: JsonObject[] };
  /** Gemini 3 refuses other parts beside function responses (docs/protocols/requests.md#function-responses-alone). */
  readonly alone: boolean;
}

/** Encodes turns as `contents` and `systemInstruction` (docs/protocols/requests.md#messages-for-gemini). */
export function encodeContents(
  { turns, tools }: Pick<Conversation, 'turns' | 'tools'>,
  traits: ModelTraits,
  target: RequestTarget,
  losses: LossReport,
): EncodedContents {
  return new ContentsEncoder(traits, target, losses, new OpenActions(tools)).encode(turns);
}

class ContentsEncoder {
  readonly #traits: ModelTraits;
  /** False on Vertex AI, which refuses `id` and pairs by name and order (docs/protocols/gemini.md#call-ids). */
  readonly #direct: boolean;
  readonly #losses: LossReport;
  readonly #calls = new CallIndex();
  readonly #actions: OpenActions;
  readonly #contents: Content[] = [];
  readonly #system: JsonObject[] = [];
  #pending: PendingResult[] = [];

  constructor(traits: ModelTraits, target: RequestTarget, losses: LossReport, actions: OpenActions) {
    this.#traits = traits;
    this.#actions = actions;
    this.#direct = target.host === 'direct';
    this.#losses = losses;
  }

  encode(turns: readonly Turn[]): EncodedContents {
    let at = 0;
    for (const turn of turns) {
      this.#turn(turn, at);
      at += messagesOf(turn);
    }
    this.#flushResults();
    this.#placeSystem();
    for (const content of this.#contents) this.#complete(content);
    const contents = this.#contents.map(({ content }) => content);
    return this.#system.length > 0 ? { contents, systemInstruction: { parts: this.#system } } : { contents };
  }

  #turn(turn: Turn, at: number): void {
    const param = BodyPlace.item('messages', at);
    if (turn.name !== undefined && turn.role !== 'tool') {
      this.#losses.dropped(BodyPlace.field(param, 'name'), 'Gemini has no names of participants');
    }
    if (turn.role === 'system') return this.#systemTurn(turn, param);
    // Before the calls of this turn: results answer earlier turns, and some clients reuse a call id.
    if (turn.role === 'assistant') this.#flushResults();
    const answers = this.#answersOf(turn, param);
    if (answers) append(this.#pending, answers);
    const encoded: JsonObject[] = [];
    let calls = 0;
    for (let index = 0; index < turn.parts.length; index += 1) {
      const part = turn.parts[index]!;
      if (part.type === 'tool_result') {
        const isMessage = turn.role === 'tool';
        const place = isMessage ? BodyPlace.item('messages', at + index) : BodyPlace.itemOf(param, 'content', index);
        this.#pending.push({ part, param: place });
        continue;
      }
      if (part.type === 'opaque' && part.attached && part.format === 'gemini') {
        Object.assign(encoded.at(-1) ?? {}, part.value);
        continue;
      }
      const isCall = part.type === 'tool_call';
      const place = isCall ? BodyPlace.itemOf(param, 'tool_calls', calls++) : BodyPlace.itemOf(param, 'content', index);
      const written = answers ? undefined : this.#part(part, place, turn.role);
      if (written) encoded.push(written);
    }
    if (encoded.length === 0) return;
    this.#flushResults();
    this.#append(turn.role === 'assistant' ? 'model' : 'user', encoded);
  }

  /** User content that answers open actions of computer use becomes their results. */
  #answersOf(turn: Turn, param: BodyPlace): readonly PendingResult[] | undefined {
    for (const part of turn.parts) if (part.type === 'tool_result') this.#actions.answered(part);
    return this.#actions.answeredBy(turn)?.map((result) => ({ ...result, param }));
  }

  #systemTurn(turn: Turn, param: BodyPlace): void {
    // All of them, in order: other gateways read only the first (docs/protocols/requests.md#system-text-for-gemini).
    if (this.#contents.length > 0 || this.#pending.length > 0) {
      this.#losses.downgraded(param, 'Gemini has one system instruction, before all turns');
    } else if (!this.#traits.system)
      this.#losses.downgraded(param, 'this model has no system field: sent as user text');
    const content = BodyPlace.field(param, 'content');
    for (let index = 0; index < turn.parts.length; index += 1) {
      const part = turn.parts[index]!;
      const place = BodyPlace.item(content, index);
      if (part.type !== 'text') this.#losses.unreadable(place, 'the system instruction is text only');
      const written = part.type === 'text' ? this.#part(part, place, 'system') : undefined;
      if (written) this.#system.push(written);
    }
  }

  /** `place` is the path of the part in the caller's body. */
  #part(part: Exclude<Part, { type: 'tool_result' }>, place: BodyPlace, role: Turn['role']): JsonObject | undefined {
    if ('cache' in part && part.cache) {
      this.#losses.dropped(BodyPlace.field(place, 'cache_control'), 'Gemini has no cache markers');
    }
    switch (part.type) {
      case 'text':
        return this.#text(part, place);
      case 'thinking':
        return this.#thinking(part, place);
      case 'redacted_thinking':
        return this.#losses.dropped(place, 'encrypted reasoning of another provider');
      case 'refusal':
        this.#losses.downgraded(place, 'Gemini has no refusal part: sent as text');
        return part.text === '' ? undefined : { text: part.text };
      case 'media':
        return this.#media(part, place);
      case 'tool_call':
        return this.#call(part, place);
      case 'code':
      case 'code_result':
        return encodeCode(part, this.#own(part, place), this.#direct);
      case 'mcp_call':
      case 'mcp_result':
        this.#losses.downgraded(place, MCP_AS_TEXT);
        return { text: mcpText(part) };
      case 'opaque':
        return this.#opaque(part, place, role);
    }
  }

  #opaque(opaque: OpaquePart, place: BodyPlace, role: Turn['role']): JsonObject | undefined {
    const { format, value } = opaque;
    if (format !== 'gemini') return loseOpaque(opaque, place, role, this.#losses);
    // Grounding and ratings describe a reply. They are not parts, and a model never gets them.
    if (isCandidateMetadata(value)) return undefined;
    const part = isPartBlock(value) ? fromPartBlock(value) : value;
    if (!part) return this.#losses.dropped(place, 'the part was unreadable in the reply');
    if (!this.#direct && DEVELOPER_PARTS.some((name) => name in part))
      return this.#losses.dropped(place, 'only the Gemini Developer API runs tools on its side');
    return part;
  }

  #text(part: TextPart, place: BodyPlace): JsonObject | undefined {
    const signature = this.#own(part, place);
    return part.text === '' && signature === undefined ? undefined : signed({ text: part.text }, signature);
  }

  /** The signature of a part, if Gemini made it. Any other is dropped, which is reported. */
  #own(part: Signable, place: BodyPlace, field = 'signature'): string | undefined {
    const { signature } = part;
    if (signature === undefined || makerOf(part) === OWN_MAKER) return signature;
    return this.#losses.dropped(BodyPlace.field(place, field), 'the signature of another provider');
  }

  /** A signature goes back without its thought, which is no loss (docs/protocols/requests.md#thoughts-to-gemini). */
  #thinking(part: ThinkingPart, place: BodyPlace): JsonObject | undefined {
    const { signature, unnamed } = part;
    if (unnamed) return this.#losses.dropped(place, 'Gemini takes no thoughts of earlier turns');
    if (signature === undefined) return undefined;
    if (makerOf(part) !== OWN_MAKER) return this.#losses.dropped(place, 'a thought of another provider');
    return { thought: true, text: '', thoughtSignature: signature };
  }

  #media(part: MediaPart, place: BodyPlace): JsonObject {
    const encoded = signed(encodeMedia(part, place), this.#own(part, place));
    reportUnsent(part, place, this.#losses);
    const { detail } = part;
    if (detail === undefined || detail === 'auto') return encoded;
    const level = detail === 'low' ? 'LOW' : detail === 'high' ? 'HIGH' : undefined;
    if (level && this.#traits.third) return { ...encoded, mediaResolution: { level: `MEDIA_RESOLUTION_${level}` } };
    this.#losses.dropped(BodyPlace.field(place, 'image_url.detail'), 'this model has no such resolution for one part');
    return encoded;
  }

  #call(part: ToolCallPart, place: BodyPlace): JsonObject {
    const { id, signature } = splitCallId(part.id);
    this.#calls.add(id, part.name);
    this.#actions.called(part);
    const args = encodeArguments(part, place, this.#losses, ARGUMENTS);
    const { name } = part;
    const functionCall = this.#direct ? { id, name, args } : { name, args };
    return signed({ functionCall }, this.#own(part, place, 'function.thought_signature') ?? signature);
  }

  #flushResults(): void {
    if (this.#pending.length === 0) return;
    const { responses, following } = encodeResults(this.#pending, {
      calls: this.#calls,
      losses: this.#losses,
      keepIds: this.#direct,
      mediaInside: this.#traits.mediaInResponses,
    });
    this.#pending = [];
    this.#contents.push({ content: { role: 'user', parts: responses }, alone: true });
    if (following.length > 0) this.#append('user', following);
  }

  #append(role: 'user' | 'model', parts: JsonObject[]): void {
    const last = this.#contents.at(-1);
    if (last && last.content.role === role && !last.alone) append(last.content.parts, parts);
    else this.#contents.push({ content: { role, parts }, alone: false });
  }

  /** Without turns or a system field, system text opens the contents (docs/protocols/requests.md#system-text-for-gemini). */
  #placeSystem(): void {
    if (this.#system.length === 0 || (this.#traits.system && this.#contents.length > 0)) return;
    const [first] = this.#contents;
    const parts = this.#system.splice(0);
    if (first?.content.role === 'user' && !first.alone) append(parts, this.#contents.shift()?.content.parts ?? []);
    this.#contents.unshift({ content: { role: 'user', parts }, alone: false });
  }

  #complete({ content, alone }: Content): void {
    const { role, parts } = content;
    if (role === 'model') {
      // Gemini checks only the first call of a turn; later parallel calls have no signature (docs/protocols/gemini.md#missing-signature).
      const call = this.#traits.third ? parts.findIndex((part) => 'functionCall' in part) : -1;
      if (call >= 0 && !('thoughtSignature' in parts[call]!)) parts[call] = signed(parts[call]!, SKIP_SIGNATURE);
    } else if (!alone && !parts.some((part) => 'text' in part) && parts.some(isMedia)) {
      // Gemini refuses media without a text (docs/protocols/requests.md#media-alone).
      parts.push({ text: ' ' });
    }
  }
}

type Signable = Extract<Part, { type: 'text' | 'media' | 'tool_call' | 'code' | 'code_result' }>;

const ARGUMENTS: ArgumentTexts = {
  wrapped: 'Gemini takes only objects as arguments: sent as {"value": …}',
  rounded: 'numbers of the wire are doubles: whole numbers beyond 2^53 are rounded',
};

/** Parts of Google's server-side tools. Vertex AI refuses both (docs/protocols/gemini.md#server-side-tools). */
const DEVELOPER_PARTS = ['toolCall', 'toolResponse'];

function isMedia(part: JsonObject): boolean {
  return 'inlineData' in part || 'fileData' in part;
}
