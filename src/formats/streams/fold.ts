import type { FormatName, JsonObject, Part, ToolCallPart } from '../conversation.ts';
import type {
  ChoiceEvent,
  EventOf,
  FinishReason,
  GenerationEvent,
  LogprobToken,
  UpstreamFailure,
  Usage,
  UrlCitation,
} from '../events.ts';
import type { Signed } from '../maker.ts';
import { mediaKind } from '../media/media-types.ts';

/** One complete answer, folded from a list of events. */
export interface FoldedChoice {
  readonly index: number;
  /** In the order of their first event. Fragments of one block are joined; a signature is on its part. */
  readonly parts: readonly Part[];
  readonly refusal: string | undefined;
  readonly finish: FinishReason | undefined;
  readonly native: string | undefined;
  readonly stopSequence: string | undefined;
  readonly message: string | undefined;
  readonly citations: readonly UrlCitation[];
  readonly logprobs: readonly LogprobToken[];
  readonly refusalLogprobs: readonly LogprobToken[];
}

export interface Generation {
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly created: number | undefined;
  /** See the `start` event. */
  readonly extras: JsonObject | undefined;
  readonly extrasFormat: FormatName | undefined;
  readonly choices: readonly FoldedChoice[];
  readonly usage: Usage | undefined;
  /** The last usage object in the provider's own format. */
  readonly rawUsage: JsonObject | undefined;
  readonly failure: UpstreamFailure | undefined;
}

type Mutable<T> = T extends unknown ? { -readonly [K in keyof T]: T[K] } : never;
type MutableChoice = Mutable<FoldedChoice> & {
  parts: Part[];
  citations: UrlCitation[];
  logprobs: LogprobToken[];
  refusalLogprobs: LogprobToken[];
};
/** Parts that come in fragments. */
type Fragmented = 'tool_call' | 'text' | 'thinking';

class Draft {
  readonly choice: MutableChoice;
  /** The part that began last, by the number of its block or call. An answer of one block needs no maps. */
  #kind: Fragmented | undefined;
  #number = 0;
  #at = 0;
  /** Part index of the earlier ones by number. */
  #earlier: Readonly<Record<Fragmented, Map<number, number>>> | undefined;

  constructor(index: number) {
    this.choice = {
      index,
      parts: [],
      refusal: undefined,
      finish: undefined,
      native: undefined,
      stopSequence: undefined,
      message: undefined,
      citations: [],
      logprobs: [],
      refusalLogprobs: [],
    };
  }

  /** The part of a block or call. It was created here: fragments are joined in place, as copies would cost more. */
  partAt(kind: Fragmented, number: number): Mutable<Part> | undefined {
    if (this.#kind === kind && this.#number === number) return this.choice.parts[this.#at];
    const at = this.#earlier?.[kind].get(number);
    return at === undefined ? undefined : this.choice.parts[at];
  }

  begin(number: number, part: Extract<Part, { type: Fragmented }>): void {
    if (this.#kind !== undefined) {
      this.#earlier ??= { tool_call: new Map(), text: new Map(), thinking: new Map() };
      this.#earlier[this.#kind].set(this.#number, this.#at);
    }
    this.#kind = part.type;
    this.#number = number;
    this.#at = this.choice.parts.push(part) - 1;
  }
}

/** A plain body is this fold of the events, so a stream and a plain reply cannot disagree. */
export function fold(events: readonly GenerationEvent[]): Generation {
  let id: string | undefined;
  let model: string | undefined;
  let created: number | undefined;
  let extras: JsonObject | undefined;
  let extrasFormat: FormatName | undefined;
  let usage: Usage | undefined;
  let rawUsage: JsonObject | undefined;
  let failure: UpstreamFailure | undefined;
  let first: Draft | undefined;
  /** Drafts of all choices, created with the second one. */
  let drafts: Map<number, Draft> | undefined;
  for (const event of events) {
    if (event.type === 'start') {
      id = event.id ?? id;
      model = event.model ?? model;
      created = event.created ?? created;
      extras = event.extras ?? extras;
      extrasFormat = event.extrasFormat ?? extrasFormat;
    } else if (event.type === 'usage') {
      usage = event.usage;
      rawUsage = event.raw ?? rawUsage;
    } else if (event.type === 'error') {
      failure = event.failure;
    } else if (event.type !== 'end' && event.type !== 'ping') {
      const { choice: index } = event;
      first ??= new Draft(index);
      let draft: Draft | undefined = first;
      if (index !== first.choice.index) {
        drafts ??= new Map([[first.choice.index, first]]);
        draft = drafts.get(index);
        if (!draft) drafts.set(index, (draft = new Draft(index)));
      }
      foldInto(draft, event);
    }
  }
  const choices = drafts
    ? [...drafts.values()].map(({ choice }) => choice).sort((a, b) => a.index - b.index)
    : first
      ? [first.choice]
      : [];
  return { id, model, created, extras, extrasFormat, choices, usage, rawUsage, failure };
}

function foldInto(draft: Draft, event: ChoiceEvent): void {
  const { choice } = draft;
  switch (event.type) {
    case 'text':
      return mergeText(draft, event);
    case 'thinking':
      return mergeThinking(draft, event);
    case 'signature':
      return sign(draft, event);
    case 'redacted_thinking':
      choice.parts.push({ type: 'redacted_thinking', data: event.data, ...madeBy(event) });
      return;
    case 'refusal':
      choice.refusal = (choice.refusal ?? '') + event.text;
      return;
    case 'tool_call': {
      const { id, name, custom, legacy } = event;
      const part: ToolCallPart = {
        type: 'tool_call',
        id,
        name,
        arguments: '',
        ...(custom && { custom }),
        ...(legacy && { legacy }),
        ...signatureOf(event),
      };
      return draft.begin(event.call, part);
    }
    case 'tool_arguments':
      return mergeArguments(draft, event);
    case 'finish':
      choice.finish = event.reason;
      choice.native = event.native;
      choice.stopSequence = event.stopSequence;
      choice.message = event.message;
      return;
    case 'citation':
      choice.citations.push(event.citation);
      return;
    case 'logprobs':
      // No spread: a long answer has more tokens than a function call takes arguments.
      for (const token of event.tokens) (event.refusal ? choice.refusalLogprobs : choice.logprobs).push(token);
      return;
    default:
      choice.parts.push(wholePart(event));
  }
}

function mergeArguments(draft: Draft, { call, text }: EventOf<'tool_arguments'>): void {
  const part = draft.partAt('tool_call', call);
  if (part?.type === 'tool_call') part.arguments += text;
}

function mergeText(draft: Draft, { block, text, spoken }: EventOf<'text'>): void {
  const part = draft.partAt('text', block);
  if (part?.type === 'text') part.text += text;
  else draft.begin(block, { type: 'text', text, ...(spoken && { spoken }) });
}

function mergeThinking(draft: Draft, { block, text, inline }: EventOf<'thinking'>): void {
  const part = draft.partAt('thinking', block);
  if (part?.type === 'thinking') part.text += text;
  else draft.begin(block, { type: 'thinking', text, ...(inline && { inline }) });
}

/** Events that carry a whole part each. */
function wholePart(event: EventOf<'media' | 'code' | 'code_result' | 'mcp_call' | 'mcp_result' | 'opaque'>): Part {
  if (event.type !== 'media') {
    const { choice: _, block: __, ...part } = event;
    return part;
  }
  const { mime, data, stored } = event;
  const media = { type: 'media' as const, media: mediaKind(mime), mime, source: { kind: 'data' as const, data } };
  return { ...media, ...(stored && { stored }), ...signatureOf(event) };
}

/** A signature belongs to the thinking or text of its block. Without either, an empty text part carries it. */
function sign(draft: Draft, event: EventOf<'signature'>): void {
  const { block, signature } = event;
  const part = draft.partAt('thinking', block) ?? draft.partAt('text', block);
  if (part?.type === 'thinking' || part?.type === 'text') {
    // A later signature replaces an earlier one, and its maker.
    delete part.maker;
    Object.assign(part, { signature }, madeBy(event));
  } else draft.begin(block, { type: 'text', text: '', signature, ...madeBy(event) });
}

const madeBy = ({ maker }: Pick<Signed, 'maker'>): Pick<Signed, 'maker'> => (maker ? { maker } : {});

const signatureOf = (event: Signed): Signed =>
  event.signature ? { signature: event.signature, ...madeBy(event) } : {};
