import {
  definePlugin,
  GatewayError,
  mergeEdits,
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
  create() {
    const compiled = new WeakMap<Target, readonly Edit[]>();
    return async function override(ctx, next) {
      const { attempt, exchange } = ctx;
      const { target } = attempt;
      if (changes(target)) {
        let laidOver = compiled.get(target);
        if (!laidOver) compiled.set(target, (laidOver = [...overrides(target), ...drops(target)]));
        const beneath = defaults(target, attempt.body);
        attempt.body = attempt.body.edit([...beneath, ...laidOver]);
        if (exchange.operation) check(exchange.operation, attempt.body, target);
      }
      await next();
    };
  },
});

const changes = ({ defaultParams, overrideParams, dropParams }: Target): boolean =>
  defaultParams !== undefined || overrideParams !== undefined || dropParams.length > 0;

const overrides = ({ overrideParams = {}, path }: Target): Edit[] =>
  mergeEdits(overrideParams, `${path} override_params`);

const drops = ({ dropParams, path }: Target): Edit[] =>
  dropParams.map((field) => ({ path: field, value: undefined, source: `${path} drop_params` }));

/** Only what the request does not say itself; null is OpenAI's way of not saying it. */
function defaults({ defaultParams = {}, path }: Target, body: RequestBody): Edit[] {
  return mergeEdits(defaultParams, `${path} default_params`).filter(
    (edit) => edit.value !== undefined && isUnsaid(body, edit.path),
  );
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
