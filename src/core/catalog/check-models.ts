import { GatewayError } from '../../plugin/index.ts';
import type { Exchange, Target } from '../kernel/index.ts';
import { quote } from '../providers/model-name.ts';
import type { Access } from './access.ts';
import type { CatalogEntry } from './catalog.ts';
import { furtherModelsIn, furtherModelsOfParams, type FurtherModel } from './further-models.ts';

/** The entry of a request, and the permissions of its caller. */
interface Chosen {
  readonly entry: CatalogEntry;
  /** `@slug`; undefined without the catalog. */
  readonly place: string | undefined;
  readonly access: Access;
}

/**
 * Throws GatewayError `model_not_allowed`.
 * @param granted the key may use the model in any case: an alias that it lists stands for it
 */
export function checkModel(model: string, { entry, place, access }: Chosen, granted = false): void {
  if (entry.models && !entry.models.matches(model))
    throw notAllowed(`${entry.name} does not serve the model ${quote(model)}.`);
  if (!granted && !access.allowsModel(place, model))
    throw notAllowed(`This key may not use the model ${quote(model)} at ${entry.name}.`);
}

/** Checks the names in `models`, `fallbacks` and tools, which are sent unchanged: an upstream that supports them calls these models. */
export function checkFurtherModels(exchange: Exchange, target: Target, { entry, place, access }: Chosen): void {
  if (!entry.models && !access.limitsModels) return;
  for (const { name, param } of furtherModels(exchange, target)) {
    if (entry.models && !entry.models.matches(name))
      throw notAllowed(`${entry.name} does not serve the model ${quote(name)} of \`${param}\`.`, param);
    if (!access.allowsModel(place, name))
      throw notAllowed(`This key may not use the model ${quote(name)} of \`${param}\` at ${entry.name}.`, param);
  }
}

const notAllowed = (message: string, param = 'model'): GatewayError =>
  new GatewayError('model_not_allowed', message, { param });

/**
 * Models that a request names beside `model`: those in the caller's body, and those in the parameters of a config sent with the request.
 * The operator's own parameters need no check.
 */
function furtherModels({ operation, request, config }: Exchange, target: Target): readonly FurtherModel[] {
  const { body } = request;
  const params = config?.id === 'inline' ? [target.defaultParams ?? {}, ...target.overrideLevels] : [];
  return [
    ...(body ? [furtherModelsIn(body, operation?.fields)] : []),
    ...params.map((one) => furtherModelsOfParams(one, operation?.fields)),
  ].flat();
}
