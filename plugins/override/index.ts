import {
  changesOf,
  definePlugin,
  GatewayError,
  spellingsOf,
  type Edit,
  type Operation,
  type RequestBody,
  type Target,
} from '../../src/plugin/index.ts';
import { applyChanges, compileChanges, type Changes } from './changes.ts';

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
    const compiled = new WeakMap<Target, Map<Operation['fields'], Changes>>();
    const changesFor = (target: Target, fields: Operation['fields']): Changes => {
      let ofTarget = compiled.get(target);
      if (!ofTarget) compiled.set(target, (ofTarget = new Map<Operation['fields'], Changes>()));
      let changes = ofTarget.get(fields);
      if (!changes) ofTarget.set(fields, (changes = compileChanges(target, spellingsOf(fields))));
      return changes;
    };
    return function override({ attempt, exchange: { operation } }, next) {
      const { target } = attempt;
      if (changes(target)) {
        attempt.body = applyChanges(attempt.body, changesFor(target, operation?.fields));
        if (operation) check(operation, attempt.body, target);
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

function check(operation: Operation, body: RequestBody, target: Target): void {
  const fault = operation.validate(body.json());
  if (fault)
    throw new GatewayError('invalid_request', `With the parameters of ${target.path}: ${fault.message}`, {
      param: fault.param,
    });
}
