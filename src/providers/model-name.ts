import { TASKS } from '../operations/tasks.ts';
import { GatewayError, type ModelTask } from '../plugin/index.ts';

const MAX_LENGTH = 256;
/** Characters that could leave the path segment of a name (docs/protocols/vertex-ai.md#model-names-in-paths). */
const UNUSABLE = /[\p{Cc}/\\?#]|\.\./u;

/**
 * Servers name models as they like: `meta-llama/Llama-3.1-8B-Instruct`, `qwen2.5:7b`, `accounts/x/models/y#accounts/z/deployments/w`,
 * the path of a file. What climbs out of a folder is no such name; some servers open files by it.
 */
const UNUSABLE_IN_BODY = /[\p{Cc}\\?]|\.\./u;

/** Refuses a model name no provider here has, before it gets near a URL or a body. */
export function checkModelName(model: string): void {
  checkForm(model);
  if (UNUSABLE.test(model)) throw unusable(model, 'holds `/`, `\\`, `?`, `#`, `..` or a control character');
}

/** The same for a name that goes into the body only, where slashes are nothing special. */
export function checkBodyModelName(model: string): void {
  checkForm(model);
  if (UNUSABLE_IN_BODY.test(model)) throw unusable(model, 'holds `\\`, `?`, `..` or a control character');
}

function checkForm(model: string): void {
  if (model === '') throw unusable(model, 'is empty');
  if (model.length > MAX_LENGTH) throw unusable(model, `is longer than ${MAX_LENGTH} characters`);
  // As a path segment it would vanish, encoded or not (RFC 3986, 6.2.2.3).
  if (model === '.') throw unusable(model, 'is no name');
  // encodeURIComponent throws on half a surrogate pair.
  if (!model.isWellFormed()) throw unusable(model, 'is not valid Unicode');
}

/** A checked name as one path segment; `@` stays readable, as Google's own clients write it. */
export function modelSegment(model: string): string {
  return encodeURIComponent(model).replaceAll('%40', '@');
}

export function unusable(model: string, why: string): GatewayError {
  return new GatewayError('invalid_model', `The model name ${quote(model)} ${why}.`, { param: 'model' });
}

/** A model that is no model for what was asked. */
export function unsupportedTask(model: string, task: ModelTask): GatewayError {
  return new GatewayError('unsupported_task', `The model ${quote(model)} cannot be asked for ${TASKS[task].result}.`, {
    param: 'model',
  });
}

/** What a caller wrote, short enough for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
