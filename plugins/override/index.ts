import {
  definePlugin,
  GatewayError,
  mergeEdits,
  type Edit,
  type Operation,
  type RequestBody,
  type Target,
} from '../../src/plugin/index.ts';

/** Lays a target's `override_params` over the request, and checks the result as if the client had sent it. */
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
      if (target.overrideParams) {
        let edits = compiled.get(target);
        if (!edits) compiled.set(target, (edits = mergeEdits(target.overrideParams, `${target.path} override_params`)));
        attempt.body = attempt.body.edit(edits);
        if (exchange.operation) check(exchange.operation, attempt.body, target);
      }
      await next();
    };
  },
});

function check(operation: Operation, body: RequestBody, target: Target): void {
  const fault = operation.validate(body.json());
  if (fault)
    throw new GatewayError('invalid_request', `With the override_params of ${target.path}: ${fault.message}`, {
      param: fault.param,
    });
}
