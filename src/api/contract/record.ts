/** A payment, a payout or a refund, as the service has it. */
export interface ServiceRecord {
  amount: number;
  status: string;
  description?: string | null | undefined;
  merchantRef?: string | undefined;
  recipientNumber?: string | undefined;
  accountNumber?: string | null | undefined;
  transactionId?: string | undefined;
  createdAt?: string | null | undefined;
}

/** A status that nobody documented is no end. */
export function hasEnded({ status }: Pick<ServiceRecord, "status">): boolean {
  return status === "Completed" || status === "Cancelled";
}
