import { GatewayError } from '../../../plugin/errors.ts';
import type { PartHead } from './form-scanner.ts';

/** `prompt` of `prompt[]` and `prompt[x]`: servers that read brackets as lists and objects take all of them for one field. */
export function bareName(name: string): string {
  const at = name.endsWith(']') ? name.indexOf('[') : -1;
  return at > 0 ? name.slice(0, at) : name;
}

type PartName = Pick<PartHead, 'name' | 'isFile'>;

/** The names of a form's parts. Of two fields with one name, the upstream might read the other. */
export class PartNames {
  readonly #byBare = new Map<string, PartName>();
  readonly #texts = new Set<string>();

  /** Throws GatewayError `duplicate_parameter`. */
  add({ name, isFile }: PartName): void {
    const bare = bareName(name);
    const before = this.#byBare.get(bare);
    const isOther = before && (before.isFile !== isFile || (before.name === bare) !== (name === bare));
    const isAgain = !isFile && !name.endsWith('[]') && this.#texts.has(name);
    if (isOther || isAgain) throw twice(name);
    this.#byBare.set(bare, { name, isFile });
    if (!isFile) this.#texts.add(name);
  }
}

const twice = (name: string): GatewayError =>
  new GatewayError('duplicate_parameter', `The form has the field \`${name.slice(0, 100)}\` twice.`, { param: name });
