SELECT count(DISTINCT s_i_id) FROM order_line, stock
  WHERE ol_w_id = :w AND ol_d_id = :d AND ol_o_id < :o AND ol_o_id >= :o - 20
    AND s_w_id = :w AND s_i_id = ol_i_id AND s_quantity < 15
