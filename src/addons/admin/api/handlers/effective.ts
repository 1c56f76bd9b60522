import { budgetsIn } from '../budgets-in.ts';
import type { Call, Handler } from '../call.ts';
import type { OwnedObject } from '../objects.ts';
import { NOUNS } from '../routes.ts';
import { answerWith } from './object-answers.ts';

interface Effective {
  readonly kind: 'budget' | 'limits' | 'models' | 'config' | 'fields';
  readonly node: string;
  readonly owner: string;
  readonly spec: unknown;
  readonly budget?: string;
}

/** Fields of a node that allow or refuse, by what they are about. */
const RULES: readonly (readonly [kind: Effective['kind'], ...fields: string[]])[] = [
  ['limits', 'limits'],
  ['models', 'models', 'providers'],
  ['config', 'configs', 'default_config'],
  ['fields', 'fields'],
];

/** A key with everything that holds for it through its team and organization. */
export const getKey: Handler = async (call) => {
  const key = call.objects.get('keys', call.id);
  const answered = await answerWith(key, call);
  return { ...answered, body: { ...answered.body, effective: effectiveOf(key, call) } };
};

function effectiveOf(key: OwnedObject, call: Call): readonly Effective[] {
  const { default_config: ofServer } = call.settings.server;
  const byServer: Effective[] =
    ofServer === undefined || key.spec['default_config'] !== undefined
      ? []
      : [{ kind: 'config', node: 'gateway', owner: 'server.yaml', spec: { default_config: ofServer } }];
  return [...nodesAbove(key, call).flatMap((node) => ofNode(node, call)), ...byServer];
}

function nodesAbove(key: OwnedObject, { objects }: Call): readonly OwnedObject[] {
  const { team } = key.spec;
  const ofTeam = typeof team === 'string' ? objects.find('teams', team) : undefined;
  const organization = ofTeam?.spec['organization'];
  const ofOrganization = typeof organization === 'string' ? objects.find('organizations', organization) : undefined;
  return [key, ...(ofTeam ? [ofTeam] : []), ...(ofOrganization ? [ofOrganization] : [])];
}

function ofNode(object: OwnedObject, { objects, settings }: Call): readonly Effective[] {
  const { kind, id, owner, spec } = object;
  const node = `${NOUNS[kind]}:${id}`;
  const rules = RULES.flatMap(([of, ...fields]) => {
    const own = Object.fromEntries(fields.flatMap((name) => (spec[name] === undefined ? [] : [[name, spec[name]]])));
    return Object.keys(own).length === 0
      ? []
      : [{ kind: of, node, owner, spec: of === 'limits' ? spec['limits'] : own }];
  });
  const apart = (of: 'budgets' | 'limits') => objects.list(of).filter((one) => one.spec['node'] === node);
  return [
    ...[object, ...apart('budgets')].flatMap((holder) =>
      budgetsIn(holder, settings).map(({ partId, spec: budget }): Effective => ({
        kind: 'budget',
        node,
        owner: holder.owner,
        spec: budget,
        budget: partId ?? holder.id,
      })),
    ),
    ...rules,
    ...apart('limits').map((one): Effective => ({ kind: 'limits', node, owner: one.owner, spec: one.spec })),
  ];
}
