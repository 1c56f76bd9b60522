import { TASKS } from '../operations/tasks.ts';
import { GatewayError, type ModelTask } from '../../plugin/index.ts';

const MAX_LENGTH = 256;
/** Characters that could break out of the name's path segment (docs/protocols/vertex-ai.md#model-names-in-paths). */
const UNUSABLE = /[\p{Cc}/\\?#]|\.\./u;

/**
 * Model names in bodies have many forms: `meta-llama/Llama-3.1-8B-Instruct`, `qwen2.5:7b`,
 * `accounts/x/models/y#accounts/z/deployments/w`, the path of a file. `..` is refused: some servers open files by this
 * name.
 */
const UNUSABLE_IN_BODY = /[\p{Cc}\\?]|\.\./u;

/** Refuses a model name that no provider has, before it is used in a URL or a body. */
export function checkModelName(model: string): void {
  checkForm(model);
  if (UNUSABLE.test(model)) throw unusable(model, 'contains `/`, `\\`, `?`, `#`, `..` or a control character');
}

/** The same for a name that is used in the body only, where slashes have no special meaning. */
export function checkBodyModelName(model: string): void {
  checkForm(model);
  if (UNUSABLE_IN_BODY.test(model)) throw unusable(model, 'contains `\\`, `?`, `..` or a control character');
}

function checkForm(model: string): void {
  if (model === '') throw unusable(model, 'is empty');
  if (model.length > MAX_LENGTH) throw unusable(model, `is longer than ${MAX_LENGTH} characters`);
  // As a path segment `.` would be removed, encoded or not (RFC 3986, 6.2.2.3).
  if (model === '.') throw unusable(model, 'is not a valid name');
  // A key that a client put there. The error does not quote it.
  if (/;key=/i.test(model))
    throw new GatewayError('invalid_model', 'The model name contains `;key=`. Send the key in a header.', {
      param: 'model',
    });
  // encodeURIComponent throws on half a surrogate pair.
  if (!model.isWellFormed()) throw unusable(model, 'is not valid Unicode');
}

/** A checked name as one path segment. `@` is not encoded, as in Google's own clients. */
export const modelSegment = (model: string): string => encodeURIComponent(model).replaceAll('%40', '@');

export const unusable = (model: string, why: string): GatewayError =>
  new GatewayError('invalid_model', `The model name ${quote(model)} ${why}.`, { param: 'model' });

/** The error for a model that has no such task at its upstream. */
export function unsupportedTask(model: string, task: ModelTask): GatewayError {
  const message =
    task === 'count_tokens'
      ? `The upstream of the model ${quote(model)} counts no tokens. With \`count: estimate\` in its catalog entry the gateway estimates them.`
      : `The model ${quote(model)} cannot produce ${TASKS[task].result}.`;
  return new GatewayError(task === 'count_tokens' ? 'not_supported' : 'unsupported_task', message, { param: 'model' });
}

/** Quotes a caller's text, shortened for a message. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
