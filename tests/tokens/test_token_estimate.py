"""SC-SP-008: the estimate errs by less than 20 % and rather counts over, on code of several languages and on Chinese
text."""

from __future__ import annotations

import pytest
from secateur.errors import UsageError
from secateur.tokens import get_counter
from secateur.tokens.estimate import LONGEST_TOKEN, CharacterCounter

PYTHON = '''\
class RefundPolicy:
    """Decides how much of an order goes back to the customer."""

    def __init__(self, window_days: int = 30, restocking_fee: Decimal = Decimal("0.15")) -> None:
        self.window_days = window_days
        self.restocking_fee = restocking_fee

    def refundable_amount(self, order: Order, today: date) -> Decimal:
        if (today - order.delivered_on).days > self.window_days:
            raise RefundError(f"order {order.id} was delivered more than {self.window_days} days ago")
        total = sum(line.price * line.quantity for line in order.lines if not line.final_sale)
        return (total * (1 - self.restocking_fee)).quantize(Decimal("0.01"), rounding=ROUND_HALF_EVEN)
'''
GO = """\
// Route picks the cheapest carrier that can deliver the parcel before its deadline.
func (p *Planner) Route(ctx context.Context, parcel Parcel) (*Carrier, error) {
	candidates, err := p.store.CarriersFor(ctx, parcel.Destination.Country)
	if err != nil {
		return nil, fmt.Errorf("carriers for %q: %w", parcel.Destination.Country, err)
	}
	var best *Carrier
	for i := range candidates {
		c := &candidates[i]
		if c.MaxWeight < parcel.Weight || !c.ArrivesBefore(parcel.Deadline) {
			continue
		}
		if best == nil || c.Price(parcel) < best.Price(parcel) {
			best = c
		}
	}
	return best, nil
}
"""
C = """\
static int ring_push(struct ring_buffer *rb, const uint8_t *data, size_t len)
{
    size_t free_bytes = rb->capacity - rb->used;

    if (len > free_bytes)
        return -ENOSPC;
    for (size_t i = 0; i < len; i++) {
        rb->bytes[(rb->head + i) & (rb->capacity - 1)] = data[i];
    }
    rb->head = (rb->head + len) & (rb->capacity - 1);
    rb->used += len;
    return 0;
}
"""
JSON = """\
{
  "orders": [
    {"id": "ord_10293", "currency": "EUR", "total": 129.90, "paid": true, "lines": [{"sku": "TEA-0042", "quantity": 3}]},
    {"id": "ord_10294", "currency": "USD", "total": 18.25, "paid": false, "lines": [{"sku": "MUG-0007", "quantity": 1}]}
  ],
  "next_page": "https://api.example.com/v2/orders?cursor=eyJpZCI6MTAyOTR9"
}
"""  # noqa: E501
CHINESE_COMMENTS = '''\
def settle_order(order, gateway):
    """结算订单：先校验库存，再锁定价格，最后调用支付网关。

    如果支付失败，库存会被释放，订单状态回到"待支付"。
    """
    # 校验每一行商品的库存，缺货时直接抛出异常
    for line in order.lines:
        if line.quantity > stock_of(line.sku):
            raise OutOfStock(line.sku)
    # 价格以下单时为准，不受之后促销活动影响
    amount = sum(line.locked_price * line.quantity for line in order.lines)
    return gateway.charge(order.customer, amount)
'''
CHINESE = """\
优先级由相关度、热点分数和图距离加权得到。系统按优先级从高到低依次选择代码片段，放不下的片段会被跳过，
然后继续尝试下一个，直到预算用完为止。单个片段不会被切开；如果所有片段都超过预算，则返回空结果并给出警告。
"""
TYPESCRIPT = """\
export async function fetchCards(boardId: string, options: FetchOptions = {}): Promise<Card[]> {
  const response = await client.get<CardResponse>(`/boards/${boardId}/cards`, { params: { limit: options.limit ?? 50 } });
  if (response.status !== 200) {
    throw new ApiError(`boards/${boardId}: ${response.statusText}`);
  }
  return response.data.items.map((item) => ({ ...item, updatedAt: new Date(item.updated_at) }));
}
"""  # noqa: E501
MARKDOWN = """\
## Rounding

Totals are rounded **once**, after tax, with banker's rounding. Lines keep four digits, so that a refund of part of an order
never differs from the original by more than a cent. See [money.py](../orders/money.py) for the details.
"""  # noqa: E501
TEXTS = {
    "python": PYTHON,
    "go": GO,
    "c": C,
    "json": JSON,
    "chinese comments": CHINESE_COMMENTS,
    "chinese": CHINESE,
    "typescript": TYPESCRIPT,
    "markdown": MARKDOWN,
}


def error_of(text: str, counter: str) -> float:
    exact = get_counter("o200k_base").count(text)
    return get_counter(counter).count(text) / exact - 1


@pytest.mark.parametrize("kind", TEXTS)
def test_the_error_is_below_a_fifth(kind: str) -> None:
    assert abs(error_of(TEXTS[kind], "estimate")) < 0.20


def test_it_rather_counts_over() -> None:
    errors = [error_of(text, "estimate") for text in TEXTS.values()]
    assert sum(errors) / len(errors) > 0.02
    assert min(errors) > -0.05
    assert sum(error >= 0 for error in errors) >= len(errors) - 2


def test_characters_over_four_would_not_do() -> None:
    """Why it is not the default: Chinese text is counted at less than half, Go at three quarters."""
    assert error_of(CHINESE, "chars4") < -0.5
    assert max(abs(error_of(text, "chars4")) for text in TEXTS.values()) > 0.20


@pytest.mark.parametrize("char", [" ", "\n", "=", "a"])
def test_no_text_is_estimated_at_fewer_tokens_than_its_length_allows(char: str) -> None:
    assert get_counter("estimate").count(char * 100_000) >= 100_000 / LONGEST_TOKEN


@pytest.mark.parametrize("ratio", [0.0, -1.0, float("nan")])
def test_a_ratio_that_is_none_is_refused(ratio: float) -> None:
    with pytest.raises(UsageError, match="token ratio"):
        CharacterCounter(ratio)
