// Generated from the table of routes by `node build/console-types.ts`. Do not edit.
export declare namespace Api {  export type TeamsBudgets = Budget[]
  export type VendorObjects = (string | ("files" | "containers" | "skills" | "caches" | "stores" | "responses" | "conversations" | "prompts" | "voices")[])
  export type Bytes = (number | string)
  export type Bytes1 = (number | string)
  export type Duration = (number | string)
  export type Duration1 = (number | string)
  export type ServerGuards = Guard[]
  export type PriceSpec = ({
  [k: string]: unknown
  } & {
  model: string
  entry?: string
  provider?: string
  host?: string
  region?: string
  tier?: ("standard" | "batch" | "flex" | "priority")
  from?: string
  until?: string
  usd?: UsdPrices
  long?: (LongPrices | false)
  factor?: number
  source?: string
  })
  export type Duration2 = (number | string)
  export type Bytes2 = (number | string)
  export type Duration3 = (number | string)

  export interface Document {
  paths: {
  "/organizations": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Organization[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateOrganization
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Organization
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/organizations/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Organization
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchOrganization
  "application/merge-patch+json": PatchOrganization
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Organization
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/teams": {
  get: {
  parameters: {
  query?: {
  /**
   * @maxItems 20
   */
  organization?: string[]
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Team[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateTeam
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Team
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/teams/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Team
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchTeam
  "application/merge-patch+json": PatchTeam
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Team
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/keys": {
  get: {
  parameters: {
  query?: {
  /**
   * @maxItems 20
   */
  team?: string[]
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Key[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateKey
  }
  }
  responses: {
  201: {
  content: {
  "application/json": CreatedKey
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/keys/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Key
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchKey
  "application/merge-patch+json": PatchKey
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Key
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/limits": {
  get: {
  parameters: {
  query?: {
  node?: string
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Limit[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateLimit
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Limit
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/limits/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Limit
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchLimit
  "application/merge-patch+json": PatchLimit
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Limit
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/budgets": {
  get: {
  parameters: {
  query?: {
  node?: string
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Budget1[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateBudget
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Budget1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/budgets/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Budget1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchBudget
  "application/merge-patch+json": PatchBudget
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Budget1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prices": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Price[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreatePrice
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Price
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prices/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Price
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchPrice
  "application/merge-patch+json": PatchPrice
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Price
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/alerts": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Alert[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateAlert
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Alert
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/alerts/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Alert
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchAlert
  "application/merge-patch+json": PatchAlert
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Alert
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/providers": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Provider[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateProvider
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Provider
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/providers/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Provider
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchProvider
  "application/merge-patch+json": PatchProvider
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Provider
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Prompt[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreatePrompt
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Prompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Prompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchPrompt
  "application/merge-patch+json": PatchPrompt
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Prompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/configs": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Config[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateConfig
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Config
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/configs/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Config
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  patch: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  }
  }
  requestBody: {
  content: {
  "application/json": PatchConfig
  "application/merge-patch+json": PatchConfig
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Config
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/keys/{id}:rotate": {
  post: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": Rotate
  }
  }
  responses: {
  200: {
  content: {
  "application/json": CreatedKey
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/keys/{id}:revoke": {
  post: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": Revoke
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Key
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/budgets/{id}:adjust": {
  post: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": Adjust
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Budget1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts/{id}:release": {
  post: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": ReleasePrompt
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Prompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts/{id}:promote": {
  post: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  }
  header: {
  "If-Match": string
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": PromotePrompt
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Prompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/usage": {
  get: {
  parameters: {
  query?: {
  from?: string
  to?: string
  step?: ("hour" | "day" | "all")
  time_zone?: string
  by?: string
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  user?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  organization?: string[]
  /**
   * @maxItems 20
   */
  config?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  /**
   * @maxItems 20
   */
  status?: string[]
  /**
   * @maxItems 20
   */
  src?: string[]
  /**
   * @maxItems 20
   */
  kind?: string[]
  /**
   * @maxItems 20
   */
  provider?: string[]
  /**
   * @maxItems 20
   */
  "label.NAME"?: string[]
  format?: ("json" | "csv" | "jsonl" | "focus")
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: UsageRow[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  "text/csv": string
  "application/jsonl": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/ledger": {
  get: {
  parameters: {
  query?: {
  from?: string
  to?: string
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  user?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  organization?: string[]
  /**
   * @maxItems 20
   */
  config?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  /**
   * @maxItems 20
   */
  status?: string[]
  /**
   * @maxItems 20
   */
  src?: string[]
  /**
   * @maxItems 20
   */
  kind?: string[]
  format?: ("json" | "csv" | "jsonl" | "focus")
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: LedgerRow[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  "text/csv": string
  "application/jsonl": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/audit": {
  get: {
  parameters: {
  query?: {
  object_kind?: string
  object_id?: string
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: AuditRow[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/audit:verify": {
  get: {
  parameters: {
  query?: {
  head?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": AuditVerdict
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/tokens": {
  get: {
  parameters: {
  query?: {
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Token[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": CreateToken
  }
  }
  responses: {
  201: {
  content: {
  "application/json": CreatedToken
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/tokens/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Token
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  header: {
  "If-Match": string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/replicas": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": Replicas
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/whoami": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": Identity
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/requests": {
  get: {
  parameters: {
  query?: {
  since?: string
  until?: string
  state?: ("running" | "complete" | "rescued" | "failed" | "aborted")
  /**
   * @maxItems 20
   */
  status?: string[]
  /**
   * @maxItems 20
   */
  error?: ("invalid_json" | "invalid_request" | "invalid_encoding" | "invalid_value" | "missing_required_parameter" | "unsupported_parameter" | "duplicate_parameter" | "field_not_allowed" | "ambiguous_parameter" | "body_too_deep" | "too_many_keys" | "too_many_items" | "request_too_large" | "unsupported_media_type" | "invalid_header" | "invalid_model" | "unsupported_task" | "not_supported" | "model_not_found" | "unknown_provider" | "ambiguous_provider" | "provider_required" | "provider_conflict" | "invalid_config" | "unknown_config" | "unknown_prompt" | "prompt_not_allowed" | "upstream_credentials_required" | "malformed_request" | "headers_too_large" | "request_timeout" | "invalid_multipart" | "model_after_file" | "file_not_found" | "file_too_large" | "file_quota_exceeded" | "file_not_inlinable" | "previous_response_not_found" | "response_not_found" | "files_disabled" | "not_found" | "invalid_grant" | "unauthorized_client" | "method_not_allowed" | "upgrade_required" | "metadata_rejected" | "guard_denied" | "missing_api_key" | "invalid_api_key" | "expired_api_key" | "key_misconfigured" | "invalid_client_certificate" | "network_not_allowed" | "origin_not_allowed" | "provider_not_allowed" | "model_not_allowed" | "config_not_allowed" | "upstream_rejected" | "context_length_exceeded" | "content_filter" | "upstream_permission" | "insufficient_quota" | "budget_exceeded" | "budget_cut" | "budget_unavailable" | "model_unpriced" | "rate_limit_exceeded" | "upstream_conflict" | "upstream_error" | "overloaded" | "timeout" | "connection_failed" | "tls_failed" | "egress_refused" | "credentials_failed" | "upstream_credentials_refused" | "pool_exhausted" | "sockets_exhausted" | "timeout_connect" | "timeout_first_byte" | "timeout_first_content" | "timeout_idle" | "timeout_total" | "timeout_request" | "empty_reply" | "unwanted_finish" | "stream_interrupted" | "reply_too_large" | "file_store_failed" | "store_unavailable" | "limit_requests" | "limit_tokens" | "limit_concurrency" | "busy" | "body_too_slow" | "shutting_down" | "client_closed" | "guard_failed" | "reply_withheld" | "plugin_refused" | "plugin_call_failed" | "auth_unavailable" | "internal_error")[]
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  config?: string[]
  /**
   * @maxItems 20
   */
  provider?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  /**
   * @maxItems 20
   */
  target?: string[]
  origin?: "playground"
  min_ms?: number
  /**
   * @maxItems 20
   */
  "label.NAME"?: string[]
  q?: string
  limit?: number
  cursor?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: RequestLine[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  oldest?: (string | null)
  partial?: number[]
  /**
   * For `Last-Event-ID` of `GET /stream`, which goes on where this list began.
   */
  live?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/requests/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Request
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/requests/{id}/costs": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": RequestCosts
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/explain": {
  post: {
  parameters: {
  query?: {
  texts?: boolean
  reason?: string
  }
  }
  requestBody: {
  content: {
  "application/json": Explain
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Explanation
  "text/plain": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/explain/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  texts?: boolean
  reason?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Explanation
  "text/plain": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/requests/{id}/test": {
  get: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  texts?: boolean
  reason?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": RecordCase
  "text/plain": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/requests/{id}/curl": {
  get: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  texts?: boolean
  reason?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": RecordCurl
  "text/plain": string
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/captures": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Capture[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {
  query?: {
  dry_run?: boolean
  }
  header?: {
  "Idempotency-Key"?: string
  }
  }
  requestBody: {
  content: {
  "application/json": StartCapture
  }
  }
  responses: {
  201: {
  content: {
  "application/json": Capture
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/captures/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  reason?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/jsonl": unknown
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {
  path: {
  id: string
  }
  query?: {
  dry_run?: boolean
  reason?: string
  }
  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/session": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": Session
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": CreateSession
  }
  }
  responses: {
  200: {
  content: {
  "application/json": CreatedSession
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  delete: {
  parameters: {

  }
  responses: {
  204: {
  content: {

  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": Settings
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/file": {
  get: {
  parameters: {
  query?: {
  path?: string
  hash?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": SettingsFile
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/places": {
  get: {
  parameters: {
  query?: {
  /**
   * @maxItems 20
   */
  config?: string[]
  hash?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Places
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/names": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": SettingsNames
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/history": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: SettingsVersion[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/validate": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": EditedSettings
  }
  }
  responses: {
  200: {
  content: {
  "application/json": ValidatedSettings
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/patch": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": EditedSettings
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Draft
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/schemas/{id}": {
  get: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Document1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/effect": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": SettingsEffect
  }
  }
  responses: {
  200: {
  content: {
  "text/event-stream": EffectEvent
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/settings/tests": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": SettingsTests
  }
  }
  responses: {
  200: {
  content: {
  "text/event-stream": TestsEvent
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/find": {
  get: {
  parameters: {
  query?: {
  q?: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Found[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/stream": {
  get: {
  parameters: {
  query?: {
  topics?: string
  state?: ("running" | "complete" | "rescued" | "failed" | "aborted")
  /**
   * @maxItems 20
   */
  status?: string[]
  /**
   * @maxItems 20
   */
  error?: ("invalid_json" | "invalid_request" | "invalid_encoding" | "invalid_value" | "missing_required_parameter" | "unsupported_parameter" | "duplicate_parameter" | "field_not_allowed" | "ambiguous_parameter" | "body_too_deep" | "too_many_keys" | "too_many_items" | "request_too_large" | "unsupported_media_type" | "invalid_header" | "invalid_model" | "unsupported_task" | "not_supported" | "model_not_found" | "unknown_provider" | "ambiguous_provider" | "provider_required" | "provider_conflict" | "invalid_config" | "unknown_config" | "unknown_prompt" | "prompt_not_allowed" | "upstream_credentials_required" | "malformed_request" | "headers_too_large" | "request_timeout" | "invalid_multipart" | "model_after_file" | "file_not_found" | "file_too_large" | "file_quota_exceeded" | "file_not_inlinable" | "previous_response_not_found" | "response_not_found" | "files_disabled" | "not_found" | "invalid_grant" | "unauthorized_client" | "method_not_allowed" | "upgrade_required" | "metadata_rejected" | "guard_denied" | "missing_api_key" | "invalid_api_key" | "expired_api_key" | "key_misconfigured" | "invalid_client_certificate" | "network_not_allowed" | "origin_not_allowed" | "provider_not_allowed" | "model_not_allowed" | "config_not_allowed" | "upstream_rejected" | "context_length_exceeded" | "content_filter" | "upstream_permission" | "insufficient_quota" | "budget_exceeded" | "budget_cut" | "budget_unavailable" | "model_unpriced" | "rate_limit_exceeded" | "upstream_conflict" | "upstream_error" | "overloaded" | "timeout" | "connection_failed" | "tls_failed" | "egress_refused" | "credentials_failed" | "upstream_credentials_refused" | "pool_exhausted" | "sockets_exhausted" | "timeout_connect" | "timeout_first_byte" | "timeout_first_content" | "timeout_idle" | "timeout_total" | "timeout_request" | "empty_reply" | "unwanted_finish" | "stream_interrupted" | "reply_too_large" | "file_store_failed" | "store_unavailable" | "limit_requests" | "limit_tokens" | "limit_concurrency" | "busy" | "body_too_slow" | "shutting_down" | "client_closed" | "guard_failed" | "reply_withheld" | "plugin_refused" | "plugin_call_failed" | "auth_unavailable" | "internal_error")[]
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  config?: string[]
  /**
   * @maxItems 20
   */
  provider?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  /**
   * @maxItems 20
   */
  target?: string[]
  origin?: "playground"
  min_ms?: number
  /**
   * @maxItems 20
   */
  "label.NAME"?: string[]
  q?: string
  }
  }
  responses: {
  200: {
  content: {
  "text/event-stream": StreamEvent
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/stats": {
  get: {
  parameters: {
  query?: {
  from?: string
  to?: string
  step_s?: ("10" | "60" | "300" | "1800" | "7200")
  by?: string
  state?: ("running" | "complete" | "rescued" | "failed" | "aborted")
  /**
   * @maxItems 20
   */
  error?: ("invalid_json" | "invalid_request" | "invalid_encoding" | "invalid_value" | "missing_required_parameter" | "unsupported_parameter" | "duplicate_parameter" | "field_not_allowed" | "ambiguous_parameter" | "body_too_deep" | "too_many_keys" | "too_many_items" | "request_too_large" | "unsupported_media_type" | "invalid_header" | "invalid_model" | "unsupported_task" | "not_supported" | "model_not_found" | "unknown_provider" | "ambiguous_provider" | "provider_required" | "provider_conflict" | "invalid_config" | "unknown_config" | "unknown_prompt" | "prompt_not_allowed" | "upstream_credentials_required" | "malformed_request" | "headers_too_large" | "request_timeout" | "invalid_multipart" | "model_after_file" | "file_not_found" | "file_too_large" | "file_quota_exceeded" | "file_not_inlinable" | "previous_response_not_found" | "response_not_found" | "files_disabled" | "not_found" | "invalid_grant" | "unauthorized_client" | "method_not_allowed" | "upgrade_required" | "metadata_rejected" | "guard_denied" | "missing_api_key" | "invalid_api_key" | "expired_api_key" | "key_misconfigured" | "invalid_client_certificate" | "network_not_allowed" | "origin_not_allowed" | "provider_not_allowed" | "model_not_allowed" | "config_not_allowed" | "upstream_rejected" | "context_length_exceeded" | "content_filter" | "upstream_permission" | "insufficient_quota" | "budget_exceeded" | "budget_cut" | "budget_unavailable" | "model_unpriced" | "rate_limit_exceeded" | "upstream_conflict" | "upstream_error" | "overloaded" | "timeout" | "connection_failed" | "tls_failed" | "egress_refused" | "credentials_failed" | "upstream_credentials_refused" | "pool_exhausted" | "sockets_exhausted" | "timeout_connect" | "timeout_first_byte" | "timeout_first_content" | "timeout_idle" | "timeout_total" | "timeout_request" | "empty_reply" | "unwanted_finish" | "stream_interrupted" | "reply_too_large" | "file_store_failed" | "store_unavailable" | "limit_requests" | "limit_tokens" | "limit_concurrency" | "busy" | "body_too_slow" | "shutting_down" | "client_closed" | "guard_failed" | "reply_withheld" | "plugin_refused" | "plugin_call_failed" | "auth_unavailable" | "internal_error")[]
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  config?: string[]
  /**
   * @maxItems 20
   */
  provider?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Stats
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/providers/kinds": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: ProviderKind[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/providers:test": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": TestProvider
  }
  }
  responses: {
  200: {
  content: {
  "text/event-stream": TestEvent
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/providers:draft": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": DraftProvider
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Draft
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/keys:draft": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": DraftKey
  }
  }
  responses: {
  200: {
  content: {
  "application/json": KeyDraft
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/alerts/fired": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: FiredAlert[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/alerts/{id}:test": {
  post: {
  parameters: {
  path: {
  id: string
  }
  }
  responses: {
  200: {
  content: {
  "application/json": AlertDelivery
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/plugins": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Plugin[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/people": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": {
  items: Person[]
  /**
   * For `cursor`; absent: this is the last page.
   */
  next?: string
  }
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts/{id}:render": {
  post: {
  parameters: {
  path: {
  id: string
  }
  }
  requestBody: {
  content: {
  "application/json": RenderPrompt
  }
  }
  responses: {
  200: {
  content: {
  "application/json": RenderedPrompt
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts/{id}:run": {
  post: {
  parameters: {
  path: {
  id: string
  }
  }
  requestBody: {
  content: {
  "application/json": RunPrompt
  }
  }
  responses: {
  200: {
  content: {
  "text/event-stream": PromptEvent
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompts:draft": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": DraftPrompt
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Draft
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prices:draft": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": DraftPrice
  }
  }
  responses: {
  200: {
  content: {
  "application/json": Draft
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/prompt-cache": {
  get: {
  parameters: {
  query?: {
  since?: string
  until?: string
  /**
   * @maxItems 20
   */
  key?: string[]
  /**
   * @maxItems 20
   */
  team?: string[]
  /**
   * @maxItems 20
   */
  provider?: string[]
  /**
   * @maxItems 20
   */
  model?: string[]
  }
  }
  responses: {
  200: {
  content: {
  "application/json": PromptCache
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/playground": {
  post: {
  parameters: {

  }
  requestBody: {
  content: {
  "application/json": Playground
  }
  }
  responses: {
  200: {
  content: {
  "application/octet-stream": unknown
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  "/openapi.json": {
  get: {
  parameters: {

  }
  responses: {
  200: {
  content: {
  "application/json": Document1
  }
  }
  default: {
  content: {
  "application/problem+json": Problem
  }
  }
  }
  }
  }
  }
  schemas: {
  adjust: Adjust
  alert: Alert
  alert_delivery: AlertDelivery
  alert_spec: AlertSpec
  audit_row: AuditRow
  audit_verdict: AuditVerdict
  budget: Budget1
  budget_spec: BudgetSpec
  capture: Capture
  config: Config
  config_spec: ConfigSpec
  create_alert: CreateAlert
  create_budget: CreateBudget
  create_config: CreateConfig
  create_key: CreateKey
  create_limit: CreateLimit
  create_organization: CreateOrganization
  create_price: CreatePrice
  create_prompt: CreatePrompt
  create_provider: CreateProvider
  create_session: CreateSession
  create_team: CreateTeam
  create_token: CreateToken
  created_key: CreatedKey
  created_session: CreatedSession
  created_token: CreatedToken
  diagnostic: Diagnostic
  document: Document1
  draft: Draft
  draft_key: DraftKey
  draft_price: DraftPrice
  draft_prompt: DraftPrompt
  draft_provider: DraftProvider
  edited_settings: EditedSettings
  effect_event: EffectEvent
  explain: Explain
  explanation: Explanation
  fired_alert: FiredAlert
  found: Found
  identity: Identity
  key: Key
  key_draft: KeyDraft
  key_spec: KeySpec
  "keys.fields": Fields
  ledger_row: LedgerRow
  limit: Limit
  limit_spec: LimitSpec
  organization: Organization
  organization_spec: Organization1
  patch_alert: PatchAlert
  patch_budget: PatchBudget
  patch_config: PatchConfig
  patch_key: PatchKey
  patch_limit: PatchLimit
  patch_organization: PatchOrganization
  patch_price: PatchPrice
  patch_prompt: PatchPrompt
  patch_provider: PatchProvider
  patch_team: PatchTeam
  person: Person
  places: Places
  playground: Playground
  plugin: Plugin
  price: Price
  price_spec: PriceSpec
  "prices.usd": UsdPrices
  problem: Problem
  promote_prompt: PromotePrompt
  prompt: Prompt
  "prompt.message": PromptMessage
  "prompt.value": PromptValueSchema
  "prompt.variable": PromptVariable
  "prompt.version": PromptVersion
  prompt_cache: PromptCache
  prompt_event: PromptEvent
  prompt_spec: PromptSpec
  provider: Provider
  provider_kind: ProviderKind
  provider_spec: ProviderSpec
  record_case: RecordCase
  record_curl: RecordCurl
  release_prompt: ReleasePrompt
  render_prompt: RenderPrompt
  rendered_prompt: RenderedPrompt
  replicas: Replicas
  request: Request
  request_costs: RequestCosts
  request_line: RequestLine
  revoke: Revoke
  rotate: Rotate
  run_prompt: RunPrompt
  "server.bytes": Bytes2
  "server.custom_hosts": CustomHosts
  "server.duration": Duration3
  "server.guard": Guard
  "server.guard_hold": GuardHold
  "server.guard_only": GuardOnly
  "server.guards": ServerGuards
  session: Session
  settings: Settings
  settings_effect: SettingsEffect
  settings_file: SettingsFile
  settings_names: SettingsNames
  settings_tests: SettingsTests
  settings_version: SettingsVersion
  start_capture: StartCapture
  stats: Stats
  stream_event: StreamEvent
  team: Team
  team_spec: Team1
  "teams.budget": Budget
  "teams.budgets": TeamsBudgets
  "teams.limits": RateLimits
  "teams.metadata": TeamsMetadata
  "teams.model_limits": ModelRateLimits
  "teams.organization": Organization1
  "teams.rate": string
  "teams.team": Team1
  "teams.token_rate": (string | TokenRate)
  test_event: TestEvent
  test_provider: TestProvider
  tests_event: TestsEvent
  token: Token
  usage_row: UsageRow
  validated_settings: ValidatedSettings
  }
  }
  export interface Organization {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: Organization1
  }
  export interface Organization1 {
  metadata?: TeamsMetadata
  budgets?: TeamsBudgets
  limits?: RateLimits
  }
  export interface TeamsMetadata {
  [k: string]: string
  }
  export interface Budget {
  cap: string
  period: ("hour" | "day" | "week" | "month" | "total")
  time_zone?: string
  day_of_month?: number
  on_exceeded?: ("refuse" | "warn")
  alerts?: number[]
  models?: string[]
  }
  export interface RateLimits {
  requests?: string
  tokens?: (string | TokenRate)
  concurrency?: number
  models?: {
  [k: string]: ModelRateLimits
  }
  }
  export interface TokenRate {
  rate: string
  count?: ("all" | "uncached")
  }
  export interface ModelRateLimits {
  requests?: string
  tokens?: (string | TokenRate)
  concurrency?: number
  }
  export interface Problem {
  type: string
  title: string
  status: number
  code: string
  detail: string
  errors?: {
  pointer: string
  message: string
  }[]
  }
  export interface CreateOrganization {
  id: string
  spec?: Organization1
  reason?: string
  }
  export interface PatchOrganization {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Team {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: Team1
  }
  export interface Team1 {
  organization?: string
  metadata?: TeamsMetadata
  budgets?: TeamsBudgets
  limits?: RateLimits
  }
  export interface CreateTeam {
  id: string
  spec?: Team1
  reason?: string
  }
  export interface PatchTeam {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Key {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: KeySpec
  state: ("active" | "disabled" | "expired" | "revoked")
  credentials: {
  slot: number
  last4: string
  valid_from: (string | null)
  valid_to: (string | null)
  }[]
  last_used: ({
  at: string
  address: string
  } | null)
  effective?: {
  kind: ("budget" | "limits" | "models" | "config" | "fields")
  node: string
  owner: string
  spec: unknown
  budget?: string
  }[]
  }
  export interface KeySpec {
  expires_at?: string
  client_certificate?: ClientCertificateOfKey
  networks?: string[]
  providers?: string[]
  models?: string[]
  configs?: string[]
  inline_configs?: boolean
  inline_plugins?: boolean
  fields?: Fields
  custom_hosts?: CustomHosts
  metadata?: {
  [k: string]: string
  }
  bound?: ("lax" | "strict")
  team?: string
  owner?: string
  contact?: string
  creator?: string
  disabled?: boolean
  default_config?: string
  budgets?: TeamsBudgets
  limits?: RateLimits
  files?: KeyFiles
  guards?: ServerGuards
  prompts?: string[]
  }
  export interface ClientCertificateOfKey {
  subject_alt_name?: string
  common_name?: string
  }
  export interface Fields {
  preset?: "shared_credentials"
  deny?: string[]
  allow?: string[]
  media_buckets?: string[]
  vendor_objects?: VendorObjects
  }
  export interface CustomHosts {
  hosts: string[]
  allow_insecure?: boolean
  }
  export interface KeyFiles {
  max_file_bytes?: Bytes
  max_total_bytes?: Bytes1
  max_files?: number
  ttl?: Duration
  }
  export interface Guard {
  name: string
  check: ("regex" | "words" | "pii" | "secrets" | "injection" | "json_schema" | "text" | "models" | "metadata" | "jwt" | "webhook")
  on?: ("input" | "output")[]
  action?: ("deny" | "mask" | "observe")
  on_error?: ("deny" | "allow")
  on_unseen?: ("deny" | "allow")
  message?: string
  only?: GuardOnly
  hold?: GuardHold
  options?: {
  secret?: string
  [k: string]: unknown
  }
  }
  export interface GuardOnly {
  roles?: ("system" | "user" | "assistant" | "tool")[]
  last?: true
  kinds?: ("text" | "thinking" | "refusal" | "tool_arguments" | "tool_result" | "file_name" | "definition" | "error")[]
  operations?: string[]
  models?: string[]
  metadata?: GuardMetadata
  }
  export interface GuardMetadata {
  [k: string]: string[]
  }
  export interface GuardHold {
  mode?: ("window" | "all")
  bytes?: number
  time?: Duration1
  }
  export interface CreateKey {
  id: string
  spec?: KeySpec
  reason?: string
  }
  export interface CreatedKey {
  key: (string | null)
  object: Key
  }
  export interface PatchKey {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Limit {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: LimitSpec
  }
  export interface LimitSpec {
  node: string
  requests?: string
  tokens?: (string | TokenRate)
  concurrency?: number
  models?: {
  [k: string]: ModelRateLimits
  }
  }
  export interface CreateLimit {
  id: string
  spec: LimitSpec
  reason?: string
  }
  export interface PatchLimit {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Budget1 {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  name: string
  part_of: (string | null)
  node: string
  spec: BudgetSpec
  unit: ("nano_usd" | "tokens")
  cap: number
  period_start: (string | null)
  period_end: (string | null)
  spent: (number | null)
  leased: (number | null)
  unreconciled: (number | null)
  saturated: boolean
  }
  export interface BudgetSpec {
  node: string
  cap: string
  period: ("hour" | "day" | "week" | "month" | "total")
  time_zone?: string
  day_of_month?: number
  on_exceeded?: ("refuse" | "warn")
  alerts?: number[]
  models?: string[]
  }
  export interface CreateBudget {
  id: string
  spec: BudgetSpec
  reason?: string
  }
  export interface PatchBudget {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Price {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: PriceSpec
  }
  export interface UsdPrices {
  input?: number
  cached?: number
  write_5m?: number
  write_1h?: number
  output?: number
  audio_in?: number
  audio_cached?: number
  image_in?: number
  image_cached?: number
  audio_out?: number
  image_out?: number
  search?: number
  file_search?: number
  map_search?: number
  container?: number
  image?: number
  second?: number
  }
  export interface LongPrices {
  over: number
  usd: UsdPrices
  }
  export interface CreatePrice {
  id: string
  spec: PriceSpec
  reason?: string
  }
  export interface PatchPrice {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Alert {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: AlertSpec
  }
  export interface AlertSpec {
  url?: string
  secret?: string
  kinds?: ("budget" | "exhausted" | "anomaly" | "unknown_price" | "lost_lease" | "key_expiry" | "backup_failure" | "rolled_back")[]
  nodes?: string[]
  allow_insecure?: boolean
  }
  export interface CreateAlert {
  id: string
  spec: AlertSpec
  reason?: string
  }
  export interface PatchAlert {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Provider {
  slug: string
  id: string
  provider: string
  owner: string
  place?: {
  file: string
  line: number
  column: number
  }
  etag: string
  spec: {
  [k: string]: unknown
  }
  problem?: string
  base_url?: string
  credential: {
  kind: ("none" | "api_key" | "service_account" | "caller_token" | "default" | "other")
  ref?: string
  email?: string
  project?: string
  last4?: string
  }
  models: string[]
  targets: {
  config: string
  target: string
  at?: {
  file: string
  line: number
  column: number
  }
  health: {
  state: ("closed" | "open" | "half_open")
  enforced?: boolean
  failed?: number
  of?: number
  last_error?: string
  retry_in_ms?: number
  worker?: number
  }[]
  }[]
  }
  export interface CreateProvider {
  id: string
  spec: ProviderSpec
  reason?: string
  }
  export interface ProviderSpec {
  [k: string]: unknown
  }
  export interface PatchProvider {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Prompt {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: PromptSpec
  }
  export interface PromptSpec {
  description?: string
  labels?: PromptLabels
  versions: PromptVersions
  }
  export interface PromptLabels {
  [k: string]: number
  }
  export interface PromptVersions {
  [k: string]: PromptVersion
  }
  export interface PromptVersion {
  digest?: string
  note?: string
  model?: string
  messages?: PromptMessage[]
  text?: string
  parameters?: {
  [k: string]: unknown
  }
  tools?: {
  [k: string]: unknown
  }[]
  response_format?: {
  [k: string]: unknown
  }
  variables?: PromptVariables
  }
  export interface PromptMessage {
  role: ("system" | "developer" | "user" | "assistant" | "tool")
  content?: (string | (string | {
  [k: string]: unknown
  })[])
  name?: string
  tool_calls?: {
  [k: string]: unknown
  }[]
  tool_call_id?: string
  }
  export interface PromptVariables {
  [k: string]: PromptVariable
  }
  export interface PromptVariable {
  description?: string
  schema?: PromptValueSchema
  media?: ("image" | "file" | "audio" | "video")
  default?: {
  [k: string]: unknown
  }
  example?: {
  [k: string]: unknown
  }
  }
  export interface PromptValueSchema {
  type?: ("string" | "number" | "integer" | "boolean" | "array" | "object")
  enum?: (string | number | boolean)[]
  minLength?: number
  maxLength?: number
  pattern?: string
  minimum?: number
  maximum?: number
  items?: PromptValueSchema
  properties?: PromptValueProperties
  required?: string[]
  additionalProperties?: boolean
  description?: "[object Object]\n\n@minItems [object Object]\n@maxItems [object Object]"
  }
  export interface PromptValueProperties {
  [k: string]: PromptValueSchema
  }
  export interface CreatePrompt {
  id: string
  spec: PromptSpec
  reason?: string
  }
  export interface PatchPrompt {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Config {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  spec: ConfigSpec
  }
  export interface ConfigSpec {
  text?: string
  }
  export interface CreateConfig {
  id: string
  spec: ConfigSpec
  reason?: string
  }
  export interface PatchConfig {
  spec: {
  [k: string]: unknown
  }
  reason?: string
  }
  export interface Rotate {
  overlap?: Duration2
  reason?: string
  }
  export interface Revoke {
  which?: ("all" | "previous")
  reason?: string
  }
  export interface Adjust {
  by: string
  of?: ("spent" | "unreconciled")
  reason: string
  }
  export interface ReleasePrompt {
  version: number
  reason?: string
  }
  export interface PromotePrompt {
  version: number
  label: string
  reason?: string
  }
  export interface UsageRow {
  start: string
  date?: string
  day?: ("zone" | "utc" | "cut")
  key?: string
  user?: string
  team?: string
  organization?: string
  config?: string
  model?: string
  status?: string
  src?: string
  kind?: string
  provider?: string
  labels?: {
  [k: string]: string
  }
  requests: number
  attempts: number
  hits: number
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  reasoning: number
  inputAudio: number
  outputAudio: number
  inputImage: number
  outputImage: number
  units: number
  searches: number
  nano: number
  cost_usd: string
  saturated: ("input" | "cacheRead" | "cacheWrite5m" | "cacheWrite1h" | "output" | "reasoning" | "inputAudio" | "outputAudio" | "inputImage" | "outputImage" | "units" | "searches" | "nano")[]
  ms: number[]
  first_ms: number[]
  }
  export interface LedgerRow {
  req: string
  request_id: string
  att: number
  kind: ("try" | "hit" | "adjustment" | "expired")
  at: string
  key: string
  user: string
  team: string
  organization: string
  config: string
  model: string
  status: string
  asked: string
  src: ("told" | "estimated" | "none" | "lost")
  tier: string
  geo: string
  price_version: string
  labels: string
  input: number
  cacheRead: number
  cacheWrite5m: number
  cacheWrite1h: number
  output: number
  reasoning: number
  inputAudio: number
  outputAudio: number
  inputImage: number
  outputImage: number
  units: number
  searches: number
  nano: number
  cost_usd: string
  held: number
  ms: number
  first_ms: (number | null)
  }
  export interface AuditRow {
  seq: number
  at: string
  actor: string
  role: string
  address: (string | null)
  action: string
  kind: string
  id: string
  before: unknown
  after: unknown
  reason: (string | null)
  prev: string
  hash: string
  }
  export interface AuditVerdict {
  intact: boolean
  rows?: number
  seq?: number
  head?: string
  parts?: {
  from: number
  to: number
  proof: ("none" | "key" | "unknown_key")
  key?: string
  }[]
  at?: number
  reason?: string
  }
  export interface Token {
  id: string
  owner: string
  etag: string
  updated_by: (string | null)
  updated_at: (string | null)
  role: ("viewer" | "operator" | "admin")
  content: boolean
  expires_at: string
  networks?: string[]
  scopes?: ("organizations:read" | "organizations:write" | "teams:read" | "teams:write" | "keys:read" | "keys:write" | "limits:read" | "limits:write" | "budgets:read" | "budgets:write" | "prices:read" | "prices:write" | "alerts:read" | "alerts:write" | "usage:read" | "usage:write" | "ledger:read" | "ledger:write" | "audit:read" | "audit:write" | "tokens:read" | "tokens:write" | "requests:read" | "requests:write" | "settings:read" | "settings:write" | "providers:read" | "providers:write" | "configs:read" | "configs:write" | "playground:read" | "playground:write" | "prompts:read" | "prompts:write")[]
  last4: string
  state: ("active" | "expired")
  }
  export interface CreateToken {
  id: string
  role: ("viewer" | "operator" | "admin")
  expires_at?: string
  networks?: string[]
  scopes?: ("organizations:read" | "organizations:write" | "teams:read" | "teams:write" | "keys:read" | "keys:write" | "limits:read" | "limits:write" | "budgets:read" | "budgets:write" | "prices:read" | "prices:write" | "alerts:read" | "alerts:write" | "usage:read" | "usage:write" | "ledger:read" | "ledger:write" | "audit:read" | "audit:write" | "tokens:read" | "tokens:write" | "requests:read" | "requests:write" | "settings:read" | "settings:write" | "providers:read" | "providers:write" | "configs:read" | "configs:write" | "playground:read" | "playground:write" | "prompts:read" | "prompts:write")[]
  content?: boolean
  reason?: string
  }
  export interface CreatedToken {
  token: (string | null)
  object: Token
  }
  export interface Replicas {
  items: {
  id: string
  host: string
  role: ("single" | "primary" | "worker")
  release: string
  settings_hash: string
  version: number
  lag: number
  started_at: string
  seen_at: string
  refused_reload: ({
  at: string
  problem: string
  } | null)
  answers: boolean
  }[]
  rolled_back: (string | null)
  }
  export interface Identity {
  actor: string
  role: ("viewer" | "operator" | "admin")
  scopes?: string[]
  content: boolean
  expires_at: (string | null)
  }
  export interface RequestLine {
  request_id: string
  worker?: number
  time: string
  ended?: string
  explain_id?: string
  state: ("complete" | "failed" | "aborted" | "running")
  status?: number
  duration_ms: number
  first_content_ms?: number
  route?: string
  key_id?: string
  team?: string
  alias?: string
  metadata?: {
  [k: string]: unknown
  }
  stream: boolean
  cache?: string
  cost_usd?: number
  error?: {
  [k: string]: unknown
  }
  origin?: string
  rescued?: boolean
  config_id?: string
  provider?: string
  request_model?: string
  target?: string
  target_name?: string
  tokens?: {
  [k: string]: unknown
  }
  prefixes?: {
  [k: string]: unknown
  }
  attempts: number
  retries: number
  skipped: number
  }
  export interface Request {
  request_id: string
  worker?: number
  time: string
  ended?: string
  explain_id?: string
  state: ("complete" | "failed" | "aborted" | "running")
  status?: number
  duration_ms: number
  first_content_ms?: number
  route?: string
  key_id?: string
  team?: string
  alias?: string
  metadata?: {
  [k: string]: unknown
  }
  stream?: boolean
  cache?: string
  cost_usd?: number
  error?: {
  [k: string]: unknown
  }
  origin?: string
  attempts: {
  target: string
  target_name?: string
  provider?: string
  request_model?: string
  why: string
  started_ms?: number
  duration_ms?: number
  outcome: ("success" | "error" | "aborted" | "running")
  failure?: {
  [k: string]: unknown
  }
  tries: {
  [k: string]: unknown
  }[]
  [k: string]: unknown
  }[]
  model?: string
  draws?: number[]
  skipped: {
  [k: string]: unknown
  }[]
  [k: string]: unknown
  }
  export interface RequestCosts {
  request_id: string
  tokens: ({
  [k: string]: unknown
  } | null)
  cost_usd: (number | null)
  targets: {
  target: string
  target_name?: string
  provider?: string
  model?: string
  cost_usd: (number | null)
  unknown?: string
  answered?: boolean
  }[]
  models: {
  provider: string
  model: string
  cost_usd: (number | null)
  unknown?: string
  }[]
  left_out: number
  }
  export interface Explain {
  method?: string
  path?: string
  headers?: {
  [k: string]: string
  }
  body?: unknown
  key?: string
  draws?: number[]
  at?: string
  of?: string
  settings?: {
  [k: string]: string
  }
  health?: {
  [k: string]: "closed" | "open" | "half_open"
  }
  }
  export interface Explanation {
  [k: string]: unknown
  }
  export interface RecordCase {
  file: string
  text: string
  passes: boolean
  notes: string[]
  }
  export interface RecordCurl {
  command: string
  kept: boolean
  }
  export interface Capture {
  id: string
  by: string
  where: {
  [k: string]: unknown
  }
  state: ("running" | "done")
  requests: number
  captured: number
  too_large: number
  bytes: number
  started_at: string
  until: string
  gone_at: string
  }
  export interface StartCapture {
  where?: {
  [k: string]: string | string[]
  }
  requests?: number
  minutes?: number
  reason?: string
  }
  export interface Session {
  user: string
  role: ("viewer" | "operator" | "admin")
  scopes?: string[]
  content: boolean
  expires_at: (string | null)
  session: boolean
  features: {
  store: boolean
  owns: string[]
  labels: string[]
  seals: boolean
  records: boolean
  explain: ("asked" | "all" | "none")
  sign_in: boolean
  }
  version: string
  settings_hash: string
  boot_id: string
  replica: string
  started_at: string
  time_zone: string
  data_url: (string | null)
  }
  export interface CreateSession {
  token: string
  }
  export interface CreatedSession {
  user: string
  role: ("viewer" | "operator" | "admin")
  scopes?: string[]
  content: boolean
  expires_at: (string | null)
  session: boolean
  features: {
  store: boolean
  owns: string[]
  labels: string[]
  seals: boolean
  records: boolean
  explain: ("asked" | "all" | "none")
  sign_in: boolean
  }
  version: string
  settings_hash: string
  boot_id: string
  replica: string
  started_at: string
  time_zone: string
  data_url: (string | null)
  csrf: string
  }
  export interface Settings {
  hash: string
  loaded_at: string
  reload: ({
  ok: boolean
  at: string
  diagnostics: Diagnostic[]
  } | null)
  warnings: Diagnostic[]
  files: {
  path: string
  bytes: number
  }[]
  configs: {
  id: string
  file: string
  }[]
  }
  export interface Diagnostic {
  file: string
  line?: number
  column?: number
  severity: ("error" | "warning")
  message: string
  fix?: {
  line: number
  column: number
  end_column: number
  text: string
  }
  }
  export interface SettingsFile {
  path: string
  hash: string
  text: string
  masked: {
  line: number
  }[]
  }
  export interface Places {
  config: string
  hash: string
  places: {
  [k: string]: {
  file: string
  line: number
  column: number
  }
  }
  }
  export interface SettingsNames {
  slugs: string[]
  models: string[]
  kinds: string[]
  keys: string[]
  teams: string[]
  configs: string[]
  prompts: string[]
  }
  export interface SettingsVersion {
  hash: string
  at: string
  by?: string
  files: {
  path: string
  patch?: string
  }[]
  }
  export interface EditedSettings {
  files: {
  [k: string]: string
  }
  base?: string
  }
  export interface ValidatedSettings {
  hash: (string | null)
  unchecked: string[]
  diagnostics: Diagnostic[]
  }
  export interface Draft {
  folder: string
  file: string
  patch: string
  apply: string[]
  set: string[]
  diagnostics: Diagnostic[]
  }
  export interface Document1 {
  [k: string]: unknown
  }
  export interface SettingsEffect {
  files: {
  [k: string]: string
  }
  last?: number
  }
  export interface EffectEvent {
  [k: string]: unknown
  }
  export interface SettingsTests {
  files: {
  [k: string]: string
  }
  filter?: string
  }
  export interface TestsEvent {
  [k: string]: unknown
  }
  export interface Found {
  kind: ("keys" | "teams" | "organizations" | "configs" | "providers" | "models" | "requests" | "prompts" | "budgets")
  id: string
  place?: string
  }
  export interface StreamEvent {
  [k: string]: unknown
  }
  export interface Stats {
  step_s: number
  since: string
  points: number
  series: {
  name: string
  requests: number[]
  errors: number[]
  rescued: number[]
  cached: number[]
  tokens_in: number[]
  tokens_out: number[]
  nano: number[]
  unpriced: number[]
  p50_ms: (number | null)[]
  p95_ms: (number | null)[]
  first_p95_ms: (number | null)[]
  retires?: {
  day: string
  past: boolean
  successor: (string | null)
  }
  }[]
  other: ({
  name: string
  requests: number[]
  errors: number[]
  rescued: number[]
  cached: number[]
  tokens_in: number[]
  tokens_out: number[]
  nano: number[]
  unpriced: number[]
  p50_ms: (number | null)[]
  p95_ms: (number | null)[]
  first_p95_ms: (number | null)[]
  } | null)
  complete_since: (string | null)
  }
  export interface ProviderKind {
  kind: string
  title: string
  description: string
  schema: {
  [k: string]: unknown
  }
  secrets: string[]
  shared: string[]
  }
  export interface TestProvider {
  slug?: string
  entry?: {
  [k: string]: unknown
  }
  model?: string
  call?: boolean
  }
  export interface TestEvent {
  [k: string]: unknown
  }
  export interface DraftProvider {
  id: string
  spec: {
  [k: string]: unknown
  }
  }
  export interface DraftKey {
  id: string
  spec: {
  [k: string]: unknown
  }
  }
  export interface KeyDraft {
  key: string
  folder: string
  file: string
  patch: string
  apply: string[]
  set: string[]
  diagnostics: Diagnostic[]
  }
  export interface FiredAlert {
  id: string
  at: string
  kind: string
  nodes: string[]
  text: string
  deliveries: AlertDelivery[]
  }
  export interface AlertDelivery {
  webhook: string
  state: ("delivered" | "waiting" | "lost")
  tries: number
  problem?: string
  }
  export interface Plugin {
  name: string
  plugin: string
  level: ("entry" | "request" | "attempt")
  external: boolean
  own: ({
  runs: number
  mean_ms: number
  p95_ms: (number | null)
  } | null)
  errors: {
  what: string
  count: number
  }[]
  }
  export interface Person {
  user: string
  role: ("viewer" | "operator" | "admin")
  content: boolean
  by: ("token" | "session" | "none")
  address: (string | null)
  seen_at: string
  }
  export interface RenderPrompt {
  version?: string
  draft?: {
  [k: string]: unknown
  }
  variables?: {
  [k: string]: unknown
  }
  }
  export interface RenderedPrompt {
  version: (number | null)
  request: {
  [k: string]: unknown
  }
  }
  export interface RunPrompt {
  as: string
  config?: string
  versions: {
  version?: string
  draft?: {
  [k: string]: unknown
  }
  }[]
  cases: {
  variables?: {
  [k: string]: unknown
  }
  text?: string
  schema?: PromptValueSchema
  }[]
  }
  export interface PromptEvent {
  [k: string]: unknown
  }
  export interface DraftPrompt {
  id: string
  spec?: PromptSpec
  release?: number
  promote?: {
  version: number
  label: string
  }
  }
  export interface DraftPrice {
  id: string
  spec: PriceSpec
  }
  export interface PromptCache {
  prefix_hashes: boolean
  examined: number
  since: (string | null)
  more: boolean
  items: {
  key: string
  model: string
  requests: number
  input: number
  cache_read: number
  cache_write: number
  misses: number
  causes: {
  first?: number
  short?: number
  target?: number
  key_order?: number
  tools?: number
  system?: number
  pause?: number
  messages?: number
  unwritten?: number
  unknown?: number
  other?: number
  }
  examples: {
  cause: ("first" | "short" | "target" | "key_order" | "tools" | "system" | "pause" | "messages" | "unwritten" | "unknown" | "other")
  request_id: string
  after: (number | null)
  }[]
  }[]
  }
  export interface Playground {
  as: string
  method?: ("GET" | "POST")
  path?: string
  headers?: {
  [k: string]: string
  }
  body?: unknown
  }
}
