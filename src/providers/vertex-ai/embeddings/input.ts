import { RequestFault } from '../../../formats/format.ts';
import type { LossReport } from '../../../formats/losses/losses.ts';
import { invalidValue } from '../../../formats/openai-chat/read.ts';
import { asText, EmbeddingFields } from './fields.ts';
import { readMedia, type Media, type MediaKind } from './media.ts';
import { isObject } from '../../../formats/json/object.ts';

/** OpenAI's limit (docs/protocols/embeddings.md#openai-request), which applies here also to requests that need several calls. */
const MAX_INPUTS = 2048;

/** The content for one vector. */
export interface Input {
  /** Its path in the body. */
  readonly param: string;
  readonly text?: string;
  readonly media: readonly Media[];
}

const MEDIA: readonly MediaKind[] = ['image', 'video', 'audio', 'document'];

export interface InputRules {
  /** The kinds of media that the model embeds besides text. */
  readonly media: ReadonlySet<MediaKind>;
  readonly losses: LossReport;
}

/** `input` as a list. Throws RequestFault. */
export function readInputs(value: unknown, rules: InputRules): readonly Input[] {
  if (!Array.isArray(value)) return [readInput(value, 'input', rules)];
  if (value.length === 0) throw invalidValue('input', '`input` is empty: there is nothing to embed.');
  if (value.some((item) => typeof item === 'number' || Array.isArray(item))) throw tokensInPlaceOfText();
  if (value.length > MAX_INPUTS)
    throw invalidValue('input', `\`input\` has ${value.length} entries, ${MAX_INPUTS} are allowed.`);
  return value.map((item: unknown, index) => readInput(item, `input[${index}]`, rules));
}

/** Refuses tokens: they are numbers of OpenAI's vocabulary, which no other model has. */
function tokensInPlaceOfText(): RequestFault {
  return invalidValue(
    'input',
    '`input` contains tokens, which this model cannot read: send text (LangChain for Python: check_embedding_ctx_length=False).',
  );
}

function readInput(value: unknown, param: string, rules: InputRules): Input {
  if (typeof value === 'string') return { param, text: asText(value, param), media: [] };
  if (!isObject(value))
    throw new RequestFault('invalid_request', `\`${param}\` must be text, or an object with \`text\` or media.`, param);
  const fields = new EmbeddingFields(value, param);
  const text = fields.take(['text'], asText);
  const media = MEDIA.flatMap((kind) => {
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
  return { param, ...(text !== undefined && { text }), media };
}
