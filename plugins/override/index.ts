import {
  changesOf,
  definePlugin,
  GatewayError,
  mergeEdits,
  mergeLevels,
  type Edit,
  type Operation,
  type RequestBody,
  type Target,
} from '../../src/plugin/index.ts';

type Params = Readonly<Record<string, unknown>>;

/** A target's parameters over the request: defaults beneath it, overrides on top, drops taken out; the result is checked as if the client had sent it. */
export default definePlugin({
  name: 'override',
  level: 'attempt',
  options: { type: 'object', additionalProperties: false, properties: {} },
  provides: ['override'],
  explain({ attempt: { body, target } }) {
    const own = changesOf(body).filter(({ edit }) => edit.source.startsWith(`${target.path} `));
    if (own.length === 0) return undefined;
    const changes = own.map(({ edit }) => ({ field: edit.path.join('.'), change: changeOf(edit) }));
    return { does: changes.map(({ field, change }) => `${field} ${change}`).join(', '), details: { changes } };
  },
  create() {
    const compiled = new WeakMap<Target, Compiled>();
    return function override({ attempt, exchange }, next) {
      const { target } = attempt;
      if (changes(target)) {
        let edits = compiled.get(target);
        if (!edits) compiled.set(target, (edits = compile(target)));
        const { body } = attempt;
        attempt.body = body.edit([...edits.beneath.filter(({ path }) => isUnsaid(body, path)), ...edits.laidOver]);
        if (exchange.operation) check(exchange.operation, attempt.body, target);
      }
      return next();
    };
  },
});

const changeOf = ({ value, source }: Edit): string => {
  if (value === undefined) return 'removed';
  return source.endsWith(' default_params') ? 'by default' : 'set';
};

const changes = ({ defaultParams, overrideLevels, dropParams }: Target): boolean =>
  defaultParams !== undefined || overrideLevels.length > 0 || dropParams.length > 0;

/** What a target changes, worked out once. */
interface Compiled {
  /** Only where the request does not say it itself; null is OpenAI's way of not saying it. */
  readonly beneath: readonly Edit[];
  readonly laidOver: readonly Edit[];
}

function compile({ defaultParams = {}, overrideLevels, dropParams, path }: Target): Compiled {
  const drops = dropParams.map((field): Edit => ({ path: field, value: undefined, source: `${path} drop_params` }));
  return {
    beneath: mergeEdits(defaultParams, `${path} default_params`).filter(({ value }) => value !== undefined),
    laidOver: [...mergeLevels(overrideLevels, `${path} override_params`), ...drops],
  };
}

/** A value of another kind on the way (text where the default has an object) is said, and for the check to judge. */
function isUnsaid(body: RequestBody, [key = '', ...inner]: readonly string[]): boolean {
  let value = body.has(key) ? body.value(key) : undefined;
  for (const name of inner) {
    if (value === undefined || value === null) return true;
    if (!isObject(value)) return false;
    value = Object.hasOwn(value, name) ? value[name] : undefined;
  }
  return value === undefined || value === null;
}

const isObject = (value: unknown): value is Params =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function check(operation: Operation, body: RequestBody, target: Target): void {
  const fault = operation.validate(body.json());
  if (fault)
    throw new GatewayError('invalid_request', `With the parameters of ${target.path}: ${fault.message}`, {
      param: fault.param,
    });
}
