import { changesOf, GatewayError, type Edit } from '../../src/plugin/index.ts';
import {
  definePlugin,
  foreignParams,
  type Operation,
  type RequestBody,
  type Target,
} from '../../src/core/kernel/index.ts';
import { applyChanges, compileChanges, type Changes } from './changes.ts';

/** Applies a target's parameters: defaults, overrides, then drops. The result is validated like a client's body. */
export default definePlugin({
  name: 'override',
  level: 'attempt',
  provides: ['override'],
  explain({ attempt: { body, target } }) {
    const own = changesOf(body).filter(({ edit }) => edit.source.startsWith(`${target.path} `));
    if (own.length === 0) return undefined;
    const changes = own.map(({ edit }) => ({ field: edit.path.join('.'), change: changeOf(edit) }));
    return { does: changes.map(({ field, change }) => `${field} ${change}`).join(', '), details: { changes } };
  },
  needs: ['turns'],
  idleFor: (target) => !changes(target),
  create({ host }) {
    const compiled = new WeakMap<Target, Map<Operation['fields'], Changes>>();
    const changesFor = (target: Target, fields: Operation['fields']): Changes => {
      let ofTarget = compiled.get(target);
      if (!ofTarget) compiled.set(target, (ofTarget = new Map<Operation['fields'], Changes>()));
      let changes = ofTarget.get(fields);
      if (!changes) ofTarget.set(fields, (changes = compileChanges(target, fields)));
      return changes;
    };
    const { turns } = host;
    return {
      step({ attempt, exchange }) {
        const { operation } = exchange;
        const { target } = attempt;
        const change = (): void => {
          const body = applyChanges(attempt.body, changesFor(target, operation?.fields));
          // Values of another API are judged when they are written for the target.
          if (operation) check(operation, foreignParams(body)?.body ?? body, target);
          attempt.body = body;
        };
        // A large body takes its parsing and validation in a turn.
        if (turns.isHeavy(attempt.body.original.length)) return Promise.resolve(turns.run(exchange, change, attempt));
        change();
        return undefined;
      },
    };
  },
});

const changeOf = ({ value, source }: Edit): string => {
  if (value === undefined) return 'removed';
  return source.endsWith(' default_params') ? 'by default' : 'set';
};

const changes = ({ defaultParams, overrideLevels, dropParams }: Target): boolean =>
  defaultParams !== undefined || overrideLevels.length > 0 || dropParams.length > 0;

function check(operation: Operation, body: RequestBody, target: Target): void {
  const fault = operation.validate(body.json());
  body.checked = fault === undefined;
  if (fault)
    throw new GatewayError('invalid_request', `With the parameters of ${target.path}: ${fault.message}`, {
      param: fault.param,
    });
}
