export {
  type Behaviour,
  closedPort,
  listen,
  misbehaviours,
  refusal,
  serve as misbehave,
  success,
} from "../support/server.ts";
