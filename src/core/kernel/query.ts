import { GatewayError } from '../../plugin/errors.ts';

/** Query parameters, each at most once. Parameters that an API does not have are ignored, as its own servers do. */
export class Query {
  readonly #params: URLSearchParams;

  constructor(query: string) {
    this.#params = new URLSearchParams(query);
  }

  text(name: string): string | undefined {
    const [value, second] = this.#params.getAll(name);
    if (second !== undefined) throw invalid(name, 'occurs twice');
    return value === '' ? undefined : value;
  }

  number(name: string, { byDefault, max }: { readonly byDefault: number; readonly max: number }): number {
    const text = this.text(name);
    if (text === undefined) return byDefault;
    const value = /^[0-9]{1,6}$/.test(text) ? Number(text) : 0;
    if (value < 1 || value > max) throw invalid(name, `must be a whole number from 1 to ${max}`);
    return value;
  }

  oneOf<T extends string>(name: string, values: readonly T[]): T | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = values.find((one) => one === text);
    if (value === undefined) throw invalid(name, `must be one of ${values.join(', ')}`);
    return value;
  }
}

const invalid = (param: string, why: string): GatewayError =>
  new GatewayError('invalid_value', `The query parameter \`${param}\` ${why}.`, { param });
