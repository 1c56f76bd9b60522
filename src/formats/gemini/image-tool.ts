import type { BuiltinTool, JsonObject, ToolChoice } from '../conversation.ts';
import { RequestFault } from '../faults.ts';
import type { RequestTarget } from '../request-target.ts';
import type { LossReport } from '../losses/losses.ts';
import { shapeOf } from '../media/image-shape.ts';
import { stringOf } from '../json/object.ts';
import { GEMINI_IMAGE, geminiImageModel } from './image-models.ts';

type DrawingTarget = Pick<RequestTarget, 'model' | 'host'>;

/** OpenAI's tool `image_generation` for a model that draws itself: settings of the answer in place of a tool. */
export interface ImageTool {
  readonly imageConfig: JsonObject;
  readonly model: string;
}

export const draws = ({ model }: DrawingTarget): boolean => GEMINI_IMAGE.test(model.toLowerCase());

/** Values that ask for nothing (docs/protocols/openai-responses.md#images). */
const DEFAULTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['action', 'auto'],
  ['background', 'auto'],
  ['moderation', 'auto'],
  ['n', 1],
  ['output_compression', 100],
  ['output_format', 'png'],
  ['partial_images', 0],
  ['quality', 'auto'],
  ['size', 'auto'],
]);

const MIME_TYPES: ReadonlyMap<unknown, string> = new Map([
  ['png', 'image/png'],
  ['jpeg', 'image/jpeg'],
]);

/** @param path place of the tool. Throws RequestFault. */
export function encodeImageTool(
  options: JsonObject,
  path: string,
  { model, host }: DrawingTarget,
  losses: LossReport,
): ImageTool {
  const imageConfig: JsonObject = {};
  const output: JsonObject = {};
  for (const [name, value] of Object.entries(options)) {
    if (name === 'type' || value === null || DEFAULTS.get(name) === value) continue;
    const here = `${path}.${name}`;
    // Outside of its mask the picture stays as it is.
    if (name === 'input_image_mask')
      throw new RequestFault('unsupported_parameter', `\`${here}\`: Gemini takes no mask of a picture.`, here);
    if (name === 'size')
      Object.assign(imageConfig, shapeOf(stringOf(value) ?? '', geminiImageModel(model), losses, here));
    // Only Vertex AI has settings of the file (docs/protocols/gemini.md#image-output).
    else if (host === 'vertex' && name === 'output_format' && MIME_TYPES.has(value))
      output.mimeType = MIME_TYPES.get(value);
    else if (host === 'vertex' && name === 'output_compression') output.compressionQuality = value;
    else losses.dropped(here, 'a Gemini model that draws has no such setting');
  }
  if (Object.keys(output).length > 0) imageConfig.imageOutputOptions = output;
  return { imageConfig, model };
}

interface Drawing {
  /** The choice among the other tools. */
  readonly choice: ToolChoice | undefined;
  /** Settings of `generationConfig`. Undefined: the request asks for no picture. */
  readonly config?: JsonObject;
  /** The answer is to be a picture: no other tool may be called. */
  readonly alone?: true;
}

const isImages = ({ kind }: BuiltinTool): boolean => kind === 'image_generation';

/** The pictures that a choice asks for: they are kinds of output here and no calls. */
export function drawingOf(
  { imageConfig, model }: ImageTool,
  choice: ToolChoice | undefined,
  losses: LossReport,
): Drawing {
  const drawn = (responseModalities: readonly string[]): JsonObject => ({
    responseModalities,
    ...(Object.keys(imageConfig).length > 0 && { imageConfig }),
  });
  const either = drawn(['TEXT', 'IMAGE']);
  if (choice?.mode === 'none') return { choice };
  if (!choice?.names) return { choice, config: either };
  const { hosted = [], ...named } = choice;
  if (!hosted.some(isImages)) return { choice };
  const others = hosted.filter((tool) => !isImages(tool));
  if (named.names?.length === 0 && others.length === 0) {
    if (choice.mode === 'auto') return { choice: { mode: 'none' }, config: either };
    const { modalities } = geminiImageModel(model);
    if (modalities.length > 1) losses.downgraded('tool_choice', 'this model decides itself whether it draws');
    return { choice: undefined, config: drawn(modalities), alone: true };
  }
  if (choice.mode === 'required')
    losses.downgraded('tool_choice', 'this model cannot be forced to draw or to call: it may answer in text');
  return { choice: { ...named, mode: 'auto', ...(others.length > 0 && { hosted: others }) }, config: either };
}
