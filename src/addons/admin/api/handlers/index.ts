import type { Handler } from '../call.ts';
import { openApiDocument } from '../openapi.ts';
import { byOperation, type ObjectKind, type OperationId } from '../routes.ts';
import { listAudit, verifyAudit } from './audit.ts';
import { adjustBudget, BUDGETS } from './budgets.ts';
import { CAPTURE_HANDLERS } from './captures.ts';
import { CONSOLE_HANDLERS } from './console.ts';
import { getCosts } from './costs.ts';
import { getKey } from './effective.ts';
import { revokeKey, rotateKey } from './keys.ts';
import { createObject, deleteObject, getObject, listObjects, patchObject } from './objects.ts';
import { promotePrompt, releasePrompt } from './prompts.ts';
import { PROVIDERS } from './providers.ts';
import { listReplicas } from './replicas.ts';
import { explainedRequest, explainRequest, getRequest, listRequests } from './requests.ts';
import { createTokenObject, deleteToken, getToken, listTokens } from './tokens.ts';
import { listLedger, listUsage } from './usage.ts';

const whoAmI: Handler = ({ identity: { actor, role, scopes, content, expiresAt } }) => ({
  body: {
    actor: actor.id,
    role,
    content,
    ...(scopes && { scopes }),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
  },
});

const ofObjects = <const Kind extends ObjectKind>(kind: Kind) =>
  byOperation<Kind, Handler>(kind, {
    list: listObjects(kind),
    get: getObject(kind),
    create: createObject(kind),
    patch: patchObject(kind),
    delete: deleteObject(kind),
  });

export const HANDLERS: Readonly<Record<OperationId, Handler>> = {
  ...CAPTURE_HANDLERS,
  ...CONSOLE_HANDLERS,
  ...ofObjects('organizations'),
  ...ofObjects('teams'),
  ...ofObjects('keys'),
  'keys.get': getKey,
  ...ofObjects('limits'),
  ...ofObjects('prices'),
  ...ofObjects('alerts'),
  ...ofObjects('configs'),
  ...PROVIDERS,
  ...ofObjects('prompts'),
  'prompts.release': releasePrompt,
  'prompts.promote': promotePrompt,
  ...BUDGETS,
  'keys.rotate': rotateKey,
  'keys.revoke': revokeKey,
  'budgets.adjust': adjustBudget,
  'usage.list': listUsage,
  'ledger.list': listLedger,
  'audit.list': listAudit,
  'audit.verify': verifyAudit,
  'tokens.list': listTokens,
  'tokens.get': getToken,
  'tokens.create': createTokenObject,
  'tokens.delete': deleteToken,
  'replicas.list': listReplicas,
  'whoami.get': whoAmI,
  'requests.list': listRequests,
  'requests.get': getRequest,
  'requests.costs': getCosts,
  'requests.explain': explainRequest,
  'requests.explained': explainedRequest,
  'openapi.get': () => ({ body: openApiDocument() }),
};
