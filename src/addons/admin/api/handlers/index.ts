import type { Handler } from '../call.ts';
import { openApiDocument } from '../openapi.ts';
import type { ObjectKind, OperationId } from '../routes.ts';
import { listAudit, verifyAudit } from './audit.ts';
import { adjustBudget, createBudget, deleteBudget, getBudget, listBudgets, patchBudget } from './budgets.ts';
import { revokeKey, rotateKey } from './keys.ts';
import { createObject, deleteObject, getObject, listObjects, patchObject } from './objects.ts';
import { explainedRequest, explainRequest, getRequest, listRequests } from './requests.ts';
import { createTokenObject, deleteToken, getToken, listTokens } from './tokens.ts';
import { listLedger, listUsage } from './usage.ts';

const whoAmI: Handler = ({ identity: { actor, role, scopes, expiresAt } }) => ({
  body: {
    actor: actor.id,
    role,
    ...(scopes && { scopes }),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  },
});

const objectHandlers = (kind: ObjectKind) => ({
  list: listObjects(kind),
  get: getObject(kind),
  create: createObject(kind),
  patch: patchObject(kind),
  delete: deleteObject(kind),
});

const ORGANIZATIONS = objectHandlers('organizations');
const TEAMS = objectHandlers('teams');
const KEYS = objectHandlers('keys');
const LIMITS = objectHandlers('limits');
const PRICES = objectHandlers('prices');
const ALERTS = objectHandlers('alerts');

/** The handler of each operation of the table. */
export const HANDLERS: Readonly<Record<OperationId, Handler>> = {
  'organizations.list': ORGANIZATIONS.list,
  'organizations.get': ORGANIZATIONS.get,
  'organizations.create': ORGANIZATIONS.create,
  'organizations.patch': ORGANIZATIONS.patch,
  'organizations.delete': ORGANIZATIONS.delete,
  'teams.list': TEAMS.list,
  'teams.get': TEAMS.get,
  'teams.create': TEAMS.create,
  'teams.patch': TEAMS.patch,
  'teams.delete': TEAMS.delete,
  'keys.list': KEYS.list,
  'keys.get': KEYS.get,
  'keys.create': KEYS.create,
  'keys.patch': KEYS.patch,
  'keys.delete': KEYS.delete,
  'keys.rotate': rotateKey,
  'keys.revoke': revokeKey,
  'budgets.list': listBudgets,
  'budgets.get': getBudget,
  'budgets.create': createBudget,
  'budgets.patch': patchBudget,
  'budgets.delete': deleteBudget,
  'budgets.adjust': adjustBudget,
  'limits.list': LIMITS.list,
  'limits.get': LIMITS.get,
  'limits.create': LIMITS.create,
  'limits.patch': LIMITS.patch,
  'limits.delete': LIMITS.delete,
  'prices.list': PRICES.list,
  'prices.get': PRICES.get,
  'prices.create': PRICES.create,
  'prices.patch': PRICES.patch,
  'prices.delete': PRICES.delete,
  'alerts.list': ALERTS.list,
  'alerts.get': ALERTS.get,
  'alerts.create': ALERTS.create,
  'alerts.patch': ALERTS.patch,
  'alerts.delete': ALERTS.delete,
  'usage.list': listUsage,
  'ledger.list': listLedger,
  'audit.list': listAudit,
  'audit.verify': verifyAudit,
  'tokens.list': listTokens,
  'tokens.get': getToken,
  'tokens.create': createTokenObject,
  'tokens.delete': deleteToken,
  'whoami.get': whoAmI,
  'requests.list': listRequests,
  'requests.get': getRequest,
  'requests.explain': explainRequest,
  'requests.explained': explainedRequest,
  'openapi.get': () => ({ body: openApiDocument() }),
};
