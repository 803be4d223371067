/** One of several answers, as it is shown. */
export interface Choice<Value> {
  name: string;
  value: Value;
}
